// Parsing of JSON with a limit of depth. Threads: any.
#pragma once

#include <iosfwd>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace reprise::detail {

// Levels of arrays and objects in what is parsed: copying and writing a value recurses.
inline constexpr int kMaxJsonDepth = 64;

// The JSON value in `file`; a discarded value if it is malformed or deeper than kMaxJsonDepth. Not
// inline: the parser is compiled once.
[[nodiscard]] nlohmann::json parse_json(std::istream& file);
// The same of a text, with the members of objects in their order.
[[nodiscard]] nlohmann::ordered_json parse_ordered_json(std::string_view text);

}  // namespace reprise::detail
