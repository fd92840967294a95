#include "network.hpp"

#include <cmath>
#include <random>

namespace digits {

Weights<float> first_weights(std::uint32_t seed) {
  // The distributions of <random> differ between standard libraries; the generators do not.
  std::mt19937 generator(seed);
  Weights<float> weights;
  for (std::size_t l = 0; l < kDepth; ++l) {
    const Layer layer = kLayers[l];
    const double bound = std::sqrt(3.0 / layer.inputs);
    weights[l].assign(layer.weights(), 0.0f);
    for (std::uint32_t i = 0; i < layer.inputs * layer.units; ++i) {
      weights[l][i] = static_cast<float>(bound * (generator() / 2147483648.0 - 1.0));
    }
  }
  return weights;
}

}  // namespace digits
