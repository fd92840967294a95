#include "digit_set.hpp"

#include <charconv>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace digits {
namespace {

constexpr std::uint32_t kHoldOutEvery = 5;
constexpr std::uint32_t kInk = 16;  // the largest pixel value of the file

// Removes a number in 0..limit and the following comma from the front of `line`. Returns false if
// `line` does not start with one.
bool take_number(std::string_view& line, std::uint32_t limit, std::uint32_t& number) {
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), number);
  if (error != std::errc() || number > limit) {
    return false;
  }
  line.remove_prefix(static_cast<std::size_t>(end - line.data()));
  if (!line.empty()) {
    if (line.front() != ',') {
      return false;
    }
    line.remove_prefix(1);
  }
  return true;
}

bool append_row(DigitSet& set, std::string_view line) {
  std::uint32_t number = 0;
  for (std::uint32_t i = 0; i < kPixels; ++i) {
    if (!take_number(line, kInk, number)) {
      return false;
    }
    set.pixels.push_back(static_cast<float>(number) / static_cast<float>(kInk));
  }
  if (!take_number(line, kClasses - 1, number) || !line.empty()) {
    return false;
  }
  set.labels.push_back(number);
  return true;
}

}  // namespace

DigitSplit read_digits(const std::filesystem::path& csv) {
  std::ifstream file(csv);
  if (!file) {
    throw std::runtime_error("cannot read " + csv.string());
  }
  DigitSplit split;
  std::string line;
  for (std::uint32_t row = 0; std::getline(file, line); ++row) {
    if (!line.empty() && line.back() == '\r') {
      line.pop_back();
    }
    if (!append_row(row % kHoldOutEvery == 0 ? split.held_out : split.training, line)) {
      throw std::runtime_error(
          csv.string() + ", line " + std::to_string(row + 1) +
          ": expected 64 pixels of 0 to 16 and a digit, with commas between them");
    }
  }
  return split;
}

}  // namespace digits
