#include "trace/sample_order.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace reprise::trace {

namespace {

constexpr unsigned kDigitBits = 8, kDigits = 4;
constexpr std::size_t kFewSamples = 64;

constexpr bool starts_before(const Sample& a, const Sample& b) { return a.started < b.started; }

using Counts = std::array<std::array<std::uint32_t, 1u << kDigitBits>, kDigits>;

std::uint32_t digit(std::uint64_t key, unsigned at) {
  return static_cast<std::uint32_t>(key >> (32 + at * kDigitBits)) & ((1u << kDigitBits) - 1);
}

// Stable radix sort by the upper 32 bits of each key, least significant digit first.
void sort_by_upper_half(std::vector<std::uint64_t>& keys) {
  Counts counts{};
  for (const std::uint64_t key : keys) {
    for (unsigned d = 0; d < kDigits; ++d) ++counts[d][digit(key, d)];
  }
  std::vector<std::uint64_t> sorted(keys.size());
  for (unsigned d = 0; d < kDigits; ++d) {
    if (counts[d][digit(keys.front(), d)] == keys.size()) continue;  // all keys have the same digit
    std::uint32_t offset = 0;
    for (std::uint32_t& count : counts[d]) offset += std::exchange(count, offset);
    for (const std::uint64_t key : keys) sorted[counts[d][digit(key, d)]++] = key;
    keys.swap(sorted);
  }
}

}  // namespace

void sort_by_start(std::vector<Sample>& samples) {
  if (std::is_sorted(samples.begin(), samples.end(), starts_before)) return;
  const auto [first, last] = std::minmax_element(samples.begin(), samples.end(), starts_before);
  const std::uint64_t begin = static_cast<std::uint64_t>(first->started),
                      span = static_cast<std::uint64_t>(last->started) - begin;
  if (samples.size() < kFewSamples || samples.size() > 0xffffffffu || span > 0xffffffffu) {
    std::stable_sort(samples.begin(), samples.end(), starts_before);
    return;
  }
  std::vector<std::uint64_t> keys(samples.size());
  for (std::size_t i = 0; i < keys.size(); ++i)
    keys[i] = ((static_cast<std::uint64_t>(samples[i].started) - begin) << 32) | i;
  sort_by_upper_half(keys);
  std::vector<Sample> sorted(samples.size());
  for (std::size_t i = 0; i < keys.size(); ++i) sorted[i] = samples[keys[i] & 0xffffffffu];
  samples.swap(sorted);
}

}  // namespace reprise::trace
