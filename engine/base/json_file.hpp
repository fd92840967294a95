// Parsing of JSON, and atomic writing of JSON files. Threads: any; of concurrent writers of one
// file, the last one wins.
#pragma once

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace reprise {
enum class Stage : std::uint8_t;
}

#include "base/atomic_file.hpp"

namespace reprise::detail {

// Levels of arrays and objects in what is parsed: copying and writing a value recurses.
inline constexpr int kMaxJsonDepth = 64;

// The JSON value in `file`; a discarded value if it is malformed or deeper than kMaxJsonDepth. Not
// inline: the parser is compiled once.
[[nodiscard]] nlohmann::json parse_json(std::istream& file);
// The same of a text, with the members of objects in their order.
[[nodiscard]] nlohmann::ordered_json parse_ordered_json(std::string_view text);

// Writes a temporary file and renames it to `path`. `content` names the data in the error text:
// "the tuning". `sources`: AtomicFileDesc. Throws NativeFailure with `stage`.
void write_json_file(const std::filesystem::path& path, const nlohmann::json& json,
                     std::string_view content, Stage stage, std::vector<FileAccess> sources = {});

}  // namespace reprise::detail
