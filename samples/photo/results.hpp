// What the pyramid makes of a picture: bytes from the device, or exact values from the reference.
// Knows no device. Threads: values.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "image.hpp"

namespace photo {

inline constexpr std::uint32_t kBins = 256;

// T is std::uint8_t for pictures as they are written, double for values before they are rounded.
template <class T>
struct Results {
  std::vector<std::vector<T>> gaussian;   // levels 1..n, red, green and blue a pixel
  std::vector<std::vector<T>> laplacian;  // levels 0..n - 1, likewise; 128 is no difference
  std::vector<std::vector<T>> edges;      // levels 0..n, one value a pixel
  std::vector<T> reconstruction;  // the picture, put together again from the Laplacian levels and
                                  // the last Gaussian
  std::array<std::vector<std::uint32_t>, kChannels> histogram;
};

// The sizes of the picture and of its levels, halved until a side would be shorter than 8 pixels, 2
// to 5 in all.
[[nodiscard]] inline std::vector<Size> level_sizes(Size size) {
  std::vector<Size> sizes = {size};
  do {
    sizes.push_back(sizes.back().halved());
  } while (sizes.size() < 5 && std::min(sizes.back().width, sizes.back().height) >= 16);
  return sizes;
}

}  // namespace photo
