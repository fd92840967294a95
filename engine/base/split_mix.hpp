// SplitMix64 (G. Steele, D. Lea, C. Flood: "Fast splittable pseudorandom number generators", 2014):
// the same sequence on every platform. Threads: one thread at a time.
#pragma once

#include <cstdint>

namespace reprise::detail {

class SplitMix64 {
 public:
  explicit SplitMix64(std::uint64_t seed) noexcept : state_(seed) {}

  [[nodiscard]] std::uint64_t next() noexcept {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

 private:
  std::uint64_t state_;
};

}  // namespace reprise::detail
