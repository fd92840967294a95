// Atomic writing of JSON files. Threads: any; of concurrent writers of one file, the last one wins.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <reprise/error.hpp>

#include "base/atomic_file.hpp"

namespace reprise::detail {

// Writes a temporary file and renames it to `path`. `content` names the data in the error text:
// "the tuning". `sources`: AtomicFileDesc. Throws NativeFailure with `stage`.
void write_json_file(const std::filesystem::path& path, const nlohmann::json& json,
                     std::string_view content, Stage stage, std::vector<FileAccess> sources = {});

}  // namespace reprise::detail
