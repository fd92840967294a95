// The reference for the device's levels: one frame of the analysis in plain C++ and double
// precision. Knows no device and shares no code with the kernels. Threads: any.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis.hpp"
#include "sound.hpp"

namespace spectrogram {

// The level of each bin of frame `frame` before rounding, lowest frequency first.
[[nodiscard]] std::vector<double> reference_levels(const Sound& sound, const Frames& frames,
                                                   std::uint64_t frame);

}  // namespace spectrogram
