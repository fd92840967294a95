// Images in memory and in files: JPEG and PNG in, PNG out.
// Knows no device. Threads: values; the functions may be called from any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace photo {

inline constexpr std::uint32_t kChannels = 3;  // red, green, blue

struct Size {
  std::uint32_t width = 0, height = 0;  // pixels
  [[nodiscard]] constexpr std::uint64_t pixels() const { return std::uint64_t{width} * height; }
  [[nodiscard]] constexpr Size halved() const { return {(width + 1) / 2, (height + 1) / 2}; }
  friend constexpr bool operator==(const Size&, const Size&) = default;
};

struct Image {
  Size size;
  std::vector<std::uint8_t> rgb;  // kChannels bytes per pixel, rows from the top, no padding
};

// Images of more pixels are refused.
inline constexpr std::uint64_t kMaxPixels = 1ull << 26;

// Reads a JPEG or PNG, whatever its name. Converts grey to colour, 16 bits to 8, and composes
// transparency onto black. Throws std::runtime_error that names the file if it is missing, not an
// image, damaged, truncated or too large.
[[nodiscard]] Image read_image(const std::filesystem::path& file);

// Writes 1 (grey) or 3 (red, green, blue) bytes a pixel. Throws std::runtime_error naming the file.
void write_png(const std::filesystem::path& file, Size size, std::uint32_t bytes_per_pixel,
               std::span<const std::uint8_t> pixels);

// The decoders of read_image. They throw std::runtime_error with the reason, without the file's
// name.
[[nodiscard]] Image decode_jpeg(std::span<const std::uint8_t> file);
[[nodiscard]] Image decode_png(std::span<const std::uint8_t> file);

}  // namespace photo
