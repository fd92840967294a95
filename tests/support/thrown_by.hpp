// Captures the Error that a call throws. Threads: any.
#pragma once

#include <doctest/doctest.h>

#include <functional>

#include <reprise/error.hpp>

namespace reprise::test {

// Returns the Error that `call` throws; fails the test if it throws none.
[[nodiscard]] inline Error thrown_by(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error;
  }
  FAIL("no Error was thrown");
  return Error({}, "none");
}

// The code of the Error that `call` throws; fails the test if it throws none.
[[nodiscard]] inline ErrorCode code_of(const std::function<void()>& call) {
  return thrown_by(call).code();
}

}  // namespace reprise::test
