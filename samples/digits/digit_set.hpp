// The handwritten digits of data/digits.csv, split into rows to train on and rows held out.
// Knows no device. Threads: values.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace digits {

inline constexpr std::uint32_t kPixels = 64;   // of one image, 8 x 8
inline constexpr std::uint32_t kClasses = 10;  // the digits 0..9

struct DigitSet {
  std::vector<float> pixels;          // kPixels a row, 0..1
  std::vector<std::uint32_t> labels;  // a row each, 0..kClasses - 1
  [[nodiscard]] std::uint32_t rows() const { return static_cast<std::uint32_t>(labels.size()); }
};

struct DigitSplit {
  DigitSet training;
  DigitSet held_out;  // every fifth row of the file, from the first
};

// Throws std::runtime_error naming the file, and the line where one is malformed.
[[nodiscard]] DigitSplit read_digits(const std::filesystem::path& csv);

}  // namespace digits
