// One frame of the analysis once more, in plain C++ and double precision: what the device's levels
// are checked against. Knows no device and shares no code with the kernels. Threads: any.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis.hpp"
#include "sound.hpp"

namespace spectrogram {

// The level of each bin of frame `frame`, from the lowest on, before it is rounded.
[[nodiscard]] std::vector<double> reference_levels(const Sound& sound, const Frames& frames,
                                                   std::uint64_t frame);

}  // namespace spectrogram
