// Writes images as PNG. Knows no GL. Threads: any.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "base/atomic_file.hpp"

namespace reprise::viewer {

struct PictureSize {
  std::uint32_t width = 0, height = 0;
};

// `rgb`: width * height * 3 bytes, top row first. `sources`: the files that it shows. Throws
// std::runtime_error with the reason, after removing a partial file.
void write_png(const std::filesystem::path& path, PictureSize size,
               std::span<const std::uint8_t> rgb, std::vector<detail::FileAccess> sources);

}  // namespace reprise::viewer
