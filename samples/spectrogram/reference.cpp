#include "reference.hpp"

#include <algorithm>
#include <cmath>

namespace spectrogram {

std::vector<double> reference_levels(const Sound& sound, const Frames& frames,
                                     std::uint64_t frame) {
  constexpr double kTurn = 2 * 3.14159265358979323846;
  const std::uint32_t size = frames.size;
  std::vector<double> faded(size), cosines(size), sines(size);
  for (std::uint32_t i = 0; i < size; ++i) {
    cosines[i] = std::cos(kTurn * i / size);
    sines[i] = std::sin(kTurn * i / size);
    faded[i] = sound.samples[frame * frames.hop + i] * 0.5 * (1 - cosines[i]);
  }
  std::vector<double> levels(frames.bins());
  for (std::uint32_t bin = 0; bin < frames.bins(); ++bin) {
    double real = 0, imaginary = 0;
    for (std::uint32_t i = 0; i < size; ++i) {
      const std::uint64_t angle = std::uint64_t{bin} * i % size;
      real += faded[i] * cosines[angle];
      imaginary -= faded[i] * sines[angle];
    }
    const double power = (real * real + imaginary * imaginary) * 16.0 / size / size;
    levels[bin] = std::clamp(255 * (1 - 10 * std::log10(power + 1e-20) / kFloor), 0.0, 255.0);
  }
  return levels;
}

}  // namespace spectrogram
