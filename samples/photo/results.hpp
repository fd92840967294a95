// The results of the pyramid: bytes from the device, or exact values from the reference.
// Knows no device. Threads: values.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "image.hpp"

namespace photo {

inline constexpr std::uint32_t kBins = 256;

// T is std::uint8_t for images as written, double for values before rounding.
template <class T>
struct Results {
  std::vector<std::vector<T>> gaussian;   // levels 1..n; red, green and blue per pixel
  std::vector<std::vector<T>> laplacian;  // levels 0..n - 1, likewise; 128: no difference
  std::vector<std::vector<T>> edges;      // levels 0..n, one value per pixel
  std::vector<T> reconstruction;  // the picture, put together again from the Laplacian levels and
                                  // the last Gaussian
  std::array<std::vector<std::uint32_t>, kChannels> histogram;
};

// The sizes of the image and of its levels (2 to 5 in total), halved until a side would be shorter
// than 8 pixels.
[[nodiscard]] inline std::vector<Size> level_sizes(Size size) {
  std::vector<Size> sizes = {size};
  do {
    sizes.push_back(sizes.back().halved());
  } while (sizes.size() < 5 && std::min(sizes.back().width, sizes.back().height) >= 16);
  return sizes;
}

}  // namespace photo
