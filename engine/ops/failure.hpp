// Errors of ops. They name the op and the refused value or library call. Threads: pure functions.
#pragma once

#include <reprise/error.hpp>

#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>

namespace reprise::ops {

template <class... Parts>
[[nodiscard]] std::string text(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return std::move(out).str();
}

// Refuses the parameters of op `name`.
[[noreturn]] inline void refuse(ErrorCode code, std::string_view name, const std::string& reason) {
  ErrorDetails details;
  details.code = code;
  details.stage = Stage::Record;
  throw Error(std::move(details), text("op ", name, ": ", reason));
}

// Reports the failure of a library call.
[[noreturn]] inline void refuse_native(std::string_view name, const char* call, std::int64_t code,
                                       const std::string& native_name) {
  ErrorDetails details;
  details.code = ErrorCode::NativeFailure;
  details.stage = Stage::Instantiate;
  details.native_call = call;
  details.native_code = code;
  details.native_name = native_name;
  throw Error(std::move(details),
              text("op ", name, ": ", call, " failed with ", native_name, " (", code, ")"));
}

}  // namespace reprise::ops
