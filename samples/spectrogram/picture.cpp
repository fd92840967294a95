#include "picture.hpp"

#include <png.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

namespace spectrogram {
namespace {

struct Colour {
  double red, green, blue;
};
// Points of a perceptually uniform colour scale that starts at black.
constexpr std::array<Colour, 8> kScale = {{{0, 0, 4},
                                           {31, 12, 72},
                                           {85, 15, 109},
                                           {136, 34, 106},
                                           {186, 54, 85},
                                           {227, 89, 51},
                                           {249, 140, 10},
                                           {252, 255, 164}}};

std::array<std::uint8_t, 3> colour_of(std::uint8_t level) {
  const double at = level * (kScale.size() - 1) / 255.0;
  const std::size_t below = std::min<std::size_t>(static_cast<std::size_t>(at), kScale.size() - 2);
  const double part = at - static_cast<double>(below);
  const auto mix = [&](double from, double to) {
    return static_cast<std::uint8_t>(from + part * (to - from) + 0.5);
  };
  const Colour &from = kScale[below], &to = kScale[below + 1];
  return {mix(from.red, to.red), mix(from.green, to.green), mix(from.blue, to.blue)};
}

}  // namespace

void write_picture(const std::filesystem::path& file, std::uint32_t width, std::uint32_t height,
                   std::span<const std::uint8_t> levels) {
  if (levels.size() != std::size_t{width} * height)
    throw std::logic_error("the levels of " + file.string() + " do not fill it");
  std::vector<std::uint8_t> pixels;
  pixels.reserve(3 * levels.size());
  for (const std::uint8_t level : levels) {
    const auto colour = colour_of(level);
    pixels.insert(pixels.end(), colour.begin(), colour.end());
  }
  png_image png{};
  png.version = PNG_IMAGE_VERSION;
  png.width = width;
  png.height = height;
  png.format = PNG_FORMAT_RGB;
  if (png_image_write_to_file(&png, file.c_str(), 0, pixels.data(), 0, nullptr) == 0) {
    throw std::runtime_error("cannot write " + file.string() + ": " + png.message);
  }
}

}  // namespace spectrogram
