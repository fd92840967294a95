#include "reference.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace digits {
namespace {

std::uint32_t mix(std::uint32_t x) {
  x ^= x >> 16;
  x *= 0x7feb352dU;
  x ^= x >> 15;
  x *= 0x846ca68bU;
  return x ^ (x >> 16);
}

constexpr int kSide = 8;  // pixels per side of an image

// Value `index` of the uniform stream of `seed`: Philox4x32-10, four words per block, the upper
// 24 bits of a word.
double random_value(std::uint32_t index, std::uint32_t seed) {
  std::array<std::uint32_t, 4> c = {index / 4, 0, 0, 0};
  std::array<std::uint32_t, 2> key = {seed, 0};
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53} * c[0], b = std::uint64_t{0xCD9E8D57} * c[2];
    c = {static_cast<std::uint32_t>(b >> 32) ^ c[1] ^ key[0], static_cast<std::uint32_t>(b),
         static_cast<std::uint32_t>(a >> 32) ^ c[3] ^ key[1], static_cast<std::uint32_t>(a)};
    key = {key[0] + 0x9E3779B9U, key[1] + 0xBB67AE85U};
  }
  return (c[index % 4] >> 8) / 16777216.0;
}

// The image as training example `example`: half of the images are shifted by one pixel, so epochs
// differ.
std::array<float, kPixels> moved(const float* image, std::uint32_t example, std::uint32_t seed) {
  const auto way = static_cast<std::uint32_t>(8 * random_value(example, seed));
  const int right = way == 0 ? 1 : way == 1 ? -1 : 0;
  const int down = way == 2 ? 1 : way == 3 ? -1 : 0;
  std::array<float, kPixels> result{};
  for (int y = 0; y < kSide; ++y) {
    for (int x = 0; x < kSide; ++x) {
      const bool inside = x - right >= 0 && x - right < kSide && y - down >= 0 && y - down < kSide;
      result[static_cast<std::size_t>(y * kSide + x)] =
          inside ? image[(y - down) * kSide + x - right] : 0.0f;
    }
  }
  return result;
}

}  // namespace

std::uint32_t shuffled_row(std::uint32_t position, std::uint32_t rows, std::uint32_t epoch,
                           std::uint32_t seed) {
  std::uint32_t mask = 1;
  while (mask < rows - 1) {
    mask = 2 * mask + 1;
  }
  // Each round is a bijection of 0..mask. Cycle walking (repeating until the value is below `rows`)
  // makes it a bijection of 0..rows - 1.
  std::uint32_t row = position;
  do {
    std::uint32_t key = mix(seed ^ mix(epoch));
    for (int round = 0; round < 4; ++round) {
      key = mix(key + 0x9e3779b9U);
      row = (row * (key | 1) + (key >> 16)) & mask;
      row ^= row >> 5;
    }
  } while (row >= rows);
  return row;
}

Reference::Reference(const DigitSet& training, const TrainingSchedule& schedule)
    : training_(&training), schedule_(schedule) {
  const Weights<float> first = first_weights(schedule.seed);
  for (std::size_t l = 0; l < kDepth; ++l) {
    weights_[l].assign(first[l].begin(), first[l].end());
    velocity_[l].assign(first[l].size(), 0.0);
  }
}

void Reference::forward(const float* pixels, Activations& out) const {
  out[0].assign(pixels, pixels + kPixels);
  for (std::size_t l = 0; l < kDepth; ++l) {
    const auto [inputs, units] = kLayers[l];
    out[l + 1].assign(weights_[l].end() - units, weights_[l].end());
    for (std::uint32_t i = 0; i < inputs; ++i) {
      for (std::uint32_t u = 0; u < units; ++u) {
        out[l + 1][u] += out[l][i] * weights_[l][i * units + u];
      }
    }
    if (l + 1 < kDepth) {
      for (double& value : out[l + 1]) {
        value = std::tanh(value);
      }
    }
  }
}

void Reference::step() {
  Weights<double> gradient;
  for (std::size_t l = 0; l < kDepth; ++l) {
    gradient[l].assign(weights_[l].size(), 0.0);
  }
  const std::uint32_t per_epoch = steps_per_epoch(training_->rows());
  Activations values;
  std::vector<double> slope, earlier;
  for (std::uint32_t r = 0; r < kBatchRows; ++r) {
    const std::uint32_t row = shuffled_row(step_ % per_epoch * kBatchRows + r, training_->rows(),
                                           step_ / per_epoch, schedule_.seed);
    const float* image = &training_->pixels[std::size_t{row} * kPixels];
    forward(moved(image, step_ * kBatchRows + r, schedule_.seed).data(), values);

    const std::vector<double>& logits = values[kDepth];
    const double largest = *std::max_element(logits.begin(), logits.end());
    double sum = 0;
    for (const double logit : logits) {
      sum += std::exp(logit - largest);
    }
    slope.resize(kClasses);
    for (std::uint32_t c = 0; c < kClasses; ++c) {
      slope[c] = (std::exp(logits[c] - largest) / sum - (c == training_->labels[row] ? 1.0 : 0.0)) /
                 kBatchRows;
    }

    for (std::size_t l = kDepth; l-- > 0;) {
      const auto [inputs, units] = kLayers[l];
      earlier.assign(inputs, 0.0);
      for (std::uint32_t u = 0; u < units; ++u) {
        for (std::uint32_t i = 0; i < inputs; ++i) {
          gradient[l][i * units + u] += values[l][i] * slope[u];
          earlier[i] += slope[u] * weights_[l][i * units + u] * (1 - values[l][i] * values[l][i]);
        }
        gradient[l][inputs * units + u] += slope[u];
      }
      slope.swap(earlier);
    }
  }

  const double rate = schedule_.rate * (1.0 - static_cast<double>(step_) / schedule_.total_steps);
  for (std::size_t l = 0; l < kDepth; ++l) {
    for (std::size_t i = 0; i < weights_[l].size(); ++i) {
      velocity_[l][i] =
          schedule_.momentum * velocity_[l][i] + gradient[l][i] + schedule_.decay * weights_[l][i];
      weights_[l][i] -= rate * velocity_[l][i];
    }
  }
  ++step_;
}

std::uint32_t Reference::correct(const DigitSet& set) const {
  std::uint32_t right = 0;
  Activations values;
  for (std::uint32_t row = 0; row < set.rows(); ++row) {
    forward(&set.pixels[std::size_t{row} * kPixels], values);
    const auto& logits = values[kDepth];
    const auto best = std::max_element(logits.begin(), logits.end()) - logits.begin();
    right += static_cast<std::uint32_t>(best) == set.labels[row] ? 1 : 0;
  }
  return right;
}

}  // namespace digits
