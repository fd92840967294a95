// What a call throws, for tests of errors.
#pragma once

#include <doctest/doctest.h>

#include <functional>

#include <reprise/error.hpp>

namespace reprise::test {

// The Error that `call` throws; fails the test where it throws none.
[[nodiscard]] inline Error thrown_by(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error;
  }
  FAIL("no Error was thrown");
  return Error({}, "none");
}

}  // namespace reprise::test
