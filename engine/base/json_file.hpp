// Parsing and atomic writing of JSON files. Threads: any; of concurrent writers of one file, the
// last one wins.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <reprise/error.hpp>

#include "base/atomic_file.hpp"

namespace reprise::detail {

// The JSON value in `file`; a discarded value if it is malformed. Not inline: the parser is
// compiled once.
[[nodiscard]] nlohmann::json parse_json(std::istream& file);

// Writes a temporary file and renames it to `path`. `content` names the data in the error text:
// "the tuning". `sources`: AtomicFileDesc. Throws NativeFailure with `stage`.
void write_json_file(const std::filesystem::path& path, const nlohmann::json& json,
                     std::string_view content, Stage stage, std::vector<FileAccess> sources = {});

}  // namespace reprise::detail
