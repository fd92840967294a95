// REPRISE_TO_STRING(Enum, Enumerators...) defines to_string(Enum): the enumerators as they are
// spelled, and "unknown" for other values. The compiler warns of an enumerator that is missing.
#pragma once

#include <string_view>

// One case per enumerator: each scan of the text expands the next one.
#define REPRISE_NAME_CASES(Enum, name, ...) \
  case Enum::name:                          \
    return #name;                           \
    __VA_OPT__(REPRISE_NAME_CASES_AGAIN REPRISE_NO_ARGUMENTS(Enum, __VA_ARGS__))
#define REPRISE_NAME_CASES_AGAIN() REPRISE_NAME_CASES
#define REPRISE_NO_ARGUMENTS ()
#define REPRISE_SCAN(...) REPRISE_SCAN_3(REPRISE_SCAN_3(REPRISE_SCAN_3(__VA_ARGS__)))
#define REPRISE_SCAN_3(...) REPRISE_SCAN_9(REPRISE_SCAN_9(REPRISE_SCAN_9(__VA_ARGS__)))
#define REPRISE_SCAN_9(...) __VA_ARGS__

#define REPRISE_TO_STRING(Enum, ...)                                       \
  std::string_view to_string(Enum value) noexcept {                        \
    switch (value) { REPRISE_SCAN(REPRISE_NAME_CASES(Enum, __VA_ARGS__)) } \
    return "unknown";                                                      \
  }
