// Selects the records of one kind. Threads: pure functions.
#pragma once

#include <variant>
#include <vector>

#include "injection/observed_program.hpp"

namespace reprise::test {

inline std::vector<trace::Record> collected(
    detail::ObservedProgram& program,
    detail::ObservedExec::Outstanding rest = detail::ObservedExec::Outstanding::Expected,
    trace::Time now = 1'000) {
  std::vector<trace::Record> records;
  program.collect(now, rest, records);
  return records;
}

template <class Kind>
std::vector<Kind> all(const std::vector<trace::Record>& records) {
  std::vector<Kind> found;
  for (const trace::Record& record : records) {
    if (const auto* const one = std::get_if<Kind>(&record)) found.push_back(*one);
  }
  return found;
}

}  // namespace reprise::test
