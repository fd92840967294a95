// A spectrogram as a picture. Knows no device. Threads: any.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

namespace spectrogram {

// Writes `levels`, a byte a pixel, rows from the top, as colours of an even scale from dark to
// light. Throws std::runtime_error naming the file.
void write_picture(const std::filesystem::path& file, std::uint32_t width, std::uint32_t height,
                   std::span<const std::uint8_t> levels);

}  // namespace spectrogram
