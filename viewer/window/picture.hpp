// Writes images as PNG. Knows no GL. Threads: any.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

namespace reprise::viewer {

struct PictureSize {
  std::uint32_t width = 0, height = 0;
};

// `rgb`: width * height * 3 bytes, top row first. Throws std::runtime_error with the reason, after
// removing a partial file.
void write_png(const std::filesystem::path& path, PictureSize size,
               std::span<const std::uint8_t> rgb);

}  // namespace reprise::viewer
