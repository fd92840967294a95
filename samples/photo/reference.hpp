// The pyramid once more, in plain C++ and double precision: what the device's pictures are checked
// against. Knows no device and shares no code with the kernels. Threads: pure functions.
#pragma once

#include <cstdint>
#include <string>

#include "image.hpp"
#include "results.hpp"

namespace photo {

[[nodiscard]] Results<double> reference_results(const Image& image);

// A byte is right if the exact value, limited to 0..255, is at most half a step and kTieTolerance
// away: it is the rounded value, and only values this close to the middle of two bytes may go
// either way.
inline constexpr double kTieTolerance = 1e-3;

struct Comparison {
  std::uint64_t values = 0;  // bytes and histogram bins compared
  std::string first_wrong;   // empty: all right
};
// The histogram and the reconstruction have to be exact; the latter is compared with `image` itself
// as well.
[[nodiscard]] Comparison compare(const Results<std::uint8_t>& results,
                                 const Results<double>& expected, const Image& image);

}  // namespace photo
