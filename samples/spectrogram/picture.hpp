// Writes a spectrogram as an image. Knows no device. Threads: any.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

namespace spectrogram {

// Writes `levels` (one byte per pixel, rows from the top) in a perceptually uniform colour scale
// from dark to light. Throws std::runtime_error that names the file.
void write_picture(const std::filesystem::path& file, std::uint32_t width, std::uint32_t height,
                   std::span<const std::uint8_t> levels);

}  // namespace spectrogram
