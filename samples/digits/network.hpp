// The network and its training: sizes, learning-rate schedule, initial weights. Shared by the
// device and the reference. Knows no device. Threads: values.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "digit_set.hpp"

namespace digits {

// A dense layer. Its weights are a matrix of (inputs + 1) x units: one row per input and the bias
// as the last row. The last column of its input is all ones, so the product includes the bias. All
// layers but the last apply tanh, which is smooth: devices that round differently converge alike.
struct Layer {
  std::uint32_t inputs = 0;
  std::uint32_t units = 0;
  [[nodiscard]] constexpr std::uint32_t columns() const { return inputs + 1; }  // of its input
  [[nodiscard]] constexpr std::uint32_t weights() const { return columns() * units; }
};

inline constexpr std::array<Layer, 3> kLayers = {Layer{kPixels, 64}, Layer{64, 32},
                                                 Layer{32, kClasses}};
inline constexpr std::size_t kDepth = kLayers.size();

inline constexpr std::uint32_t kMicrobatchRows = 16;  // rows of one branch of the step
inline constexpr std::uint32_t kMicrobatches = 8;     // branches; their gradients are added
inline constexpr std::uint32_t kBatchRows = kMicrobatchRows * kMicrobatches;

// Stochastic gradient descent with momentum; the rate falls linearly from `rate` to 0 over
// `total_steps`.
struct TrainingSchedule {
  std::uint32_t seed = 1;
  std::uint32_t total_steps = 0;
  float rate = 0.1f;
  float momentum = 0.9f;
  float decay = 1e-3f;  // weight decay per step
};

// One matrix per layer.
template <class T>
using Weights = std::array<std::vector<T>, kDepth>;

// Uniform with variance 1 / inputs, from `seed`; biases 0. The same on every machine.
[[nodiscard]] Weights<float> first_weights(std::uint32_t seed);

// Full batches in one pass over `rows`. The order differs in each epoch, so rows that one epoch
// omits take part in another.
[[nodiscard]] constexpr std::uint32_t steps_per_epoch(std::uint32_t rows) {
  return rows / kBatchRows;
}

}  // namespace digits
