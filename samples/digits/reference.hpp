// The reference for the device's weights: the same training in plain C++ and double precision.
// Knows no device and shares no code with the kernels. Threads: one at a time.
#pragma once

#include <cstdint>

#include "digit_set.hpp"
#include "network.hpp"

namespace digits {

// The row of the training set at `position` (0..rows - 1) of `epoch`: a permutation that depends on
// epoch and seed.
[[nodiscard]] std::uint32_t shuffled_row(std::uint32_t position, std::uint32_t rows,
                                         std::uint32_t epoch, std::uint32_t seed);

class Reference {
 public:
  // `training` outlives this.
  Reference(const DigitSet& training, const TrainingSchedule& schedule);

  void step();  // one batch
  [[nodiscard]] const Weights<double>& weights() const noexcept { return weights_; }
  [[nodiscard]] std::uint32_t correct(
      const DigitSet& set) const;  // correctly classified rows of `set`

 private:
  using Activations = std::array<std::vector<double>,
                                 kDepth + 1>;  // of one row: pixels, then each layer's output
  void forward(const float* pixels, Activations& out) const;

  const DigitSet* training_;
  TrainingSchedule schedule_;
  std::uint32_t step_ = 0;
  Weights<double> weights_, velocity_;
};

}  // namespace digits
