// JSON files that people keep beside a program: written whole or not at all. Threads: whoever writes one at the same time as another wins as a whole.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include <reprise/error.hpp>

namespace reprise::detail {

// The JSON value in `file`; a discarded value if it is malformed. Here, so that the parser is compiled once.
[[nodiscard]] nlohmann::json parse_json(std::istream& file);

// `what` it is, for the error: "the tuning". Throws NativeFailure at `stage`.
void write_json_file(const std::filesystem::path& path, const nlohmann::json& json, std::string_view what, Stage stage);

}  // namespace reprise::detail
