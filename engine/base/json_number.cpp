#include "base/json_number.hpp"

#include <stdexcept>

#include <nlohmann/json.hpp>

#include "base/text.hpp"

namespace reprise::detail {

std::uint64_t json_integer(const nlohmann::json& value, std::string_view name, std::uint64_t max) {
  // The parser makes every integer that is not negative unsigned; larger ones become floats.
  if (value.is_number_unsigned() && value.get<std::uint64_t>() <= max)
    return value.get<std::uint64_t>();
  throw std::out_of_range(
      concat("\"", name, "\" is ", value.dump(), "; it must be an integer from 0 to ", max));
}

}  // namespace reprise::detail
