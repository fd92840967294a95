// Hash64: a 64-bit hash of a stream of numbers, bytes and strings, identical across runs, compilers
// and platforms. Distinguishes plans; not collision-resistant against an adversary. Threads:
// values.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace reprise::detail {

// Definition: state = 0x243f6a8885a308d3 (digits of pi). Each 64-bit word w updates state =
// fold(state ^ w) + 0x13198a2e03707344, where fold(x) is the upper xor the lower half of the
// 128-bit product x * 0x9e3779b97f4a7c15. Byte strings are hashed as their count, followed by
// little-endian words; zeros pad the last word. value() is fold(state ^ number of words).
class Hash64 {
 public:
  void add(std::uint64_t word) noexcept {
    state_ = fold(state_ ^ word) + 0x13198a2e03707344u;
    ++words_;
  }
  void add(std::uint32_t low, std::uint32_t high) noexcept { add(low | std::uint64_t{high} << 32); }
  void add_bytes(const void* data, std::size_t size) noexcept {
    add(size);
    add_raw(static_cast<const std::byte*>(data), size);
  }
  void add(std::string_view text) noexcept { add_bytes(text.data(), text.size()); }
  [[nodiscard]] std::uint64_t value() const noexcept { return fold(state_ ^ words_); }

 private:
  static std::uint64_t fold(std::uint64_t x) noexcept {
    __extension__ using Wide = unsigned __int128;
    const Wide product = static_cast<Wide>(x) * 0x9e3779b97f4a7c15u;
    return static_cast<std::uint64_t>(product >> 64) ^ static_cast<std::uint64_t>(product);
  }
  static std::uint64_t load(const std::byte* data, std::size_t size) noexcept {
    std::uint64_t word = 0;
    if constexpr (std::endian::native == std::endian::little) {
      std::memcpy(&word, data, size);
    } else {
      for (std::size_t i = 0; i < size; ++i)
        word |= std::to_integer<std::uint64_t>(data[i]) << (8 * i);
    }
    return word;
  }
  void add_raw(const std::byte* data, std::size_t size) noexcept {
    for (; size >= 8; data += 8, size -= 8) add(load(data, 8));
    if (size != 0) add(load(data, size));
  }

  std::uint64_t state_ = 0x243f6a8885a308d3u;
  std::uint64_t words_ = 0;
};

}  // namespace reprise::detail
