// Conversions of JSON numbers, which files of other programs contain. Depends on no type of the
// engine. Threads: pure functions.
#pragma once

#include <cstdint>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace reprise::detail {

// The value as an integer from 0 to `max`. Throws std::out_of_range that names the value `name`: a
// conversion of the library would truncate or wrap.
[[nodiscard]] std::uint64_t json_integer(const nlohmann::json& value, std::string_view name,
                                         std::uint64_t max);
[[nodiscard]] inline std::uint32_t json_uint32(const nlohmann::json& value, std::string_view name) {
  return static_cast<std::uint32_t>(json_integer(value, name, 0xffffffff));
}

}  // namespace reprise::detail
