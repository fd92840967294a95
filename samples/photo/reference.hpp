// The reference for the device's images: the same pyramid in plain C++ and double precision. Knows
// no device and shares no code with the kernels. Threads: pure functions.
#pragma once

#include <cstdint>
#include <string>

#include "image.hpp"
#include "results.hpp"

namespace photo {

[[nodiscard]] Results<double> reference_results(const Image& image);

// A byte is correct if it differs from the exact value, clamped to 0..255, by at most half a step
// plus kTieTolerance. Only values this close to the middle of two bytes may round either way.
inline constexpr double kTieTolerance = 1e-3;

struct Comparison {
  std::uint64_t values = 0;  // bytes and histogram bins compared
  std::string first_wrong;   // empty: no mismatch
};
// The histogram and the reconstruction must be exact; the reconstruction is also compared with
// `image` itself.
[[nodiscard]] Comparison compare(const Results<std::uint8_t>& results,
                                 const Results<double>& expected, const Image& image);

}  // namespace photo
