// Errors of ops. They name the op and the refused value or library call. Threads: pure functions.
#pragma once

#include <reprise/buffer.hpp>
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

// Refuses a value that its enumeration does not have. `field`: ".type".
template <class Enum>
void require_enumerator(std::string_view name, std::string_view field, Enum value) {
  if (to_string(value) != "unknown") return;
  refuse(
      ErrorCode::InvalidArgument, name,
      text(field, " is ", static_cast<std::uint32_t>(value), ", which is none of its enumerators"));
}

// (count - 1) * distance + length: the elements of `count` rows; saturated at 2^64 - 1, which no
// buffer holds. `count` is not 0.
[[nodiscard]] constexpr std::uint64_t elements_of(std::uint64_t count, std::uint64_t distance,
                                                  std::uint64_t length) noexcept {
  const std::uint64_t before = detail::bytes_of(count - 1, distance);
  return before > ~std::uint64_t{0} - length ? ~std::uint64_t{0} : before + length;
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
