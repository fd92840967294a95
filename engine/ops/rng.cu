// Fills buffers with random values. `state`: seed, subsequence, position of the next value. Each
// thread computes one block of four values of the stream.
#include <reprise_kernel.hpp>

#include "ops/philox.hpp"

REPRISE_KERNEL(reprise_rng_uniform, (const unsigned long long* state, float* out,
                                     unsigned long long n, float low, float range)) {
  const unsigned long long position = state[2];
  const unsigned long long block =
      position / 4 + (static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x);
  if (4 * block >= position + n) return;
  const reprise_ops::PhiloxWords words = reprise_ops::philox_block(state[0], state[1], block);
  for (int i = 0; i < 4; ++i) {
    // Wraps around for values before the fill.
    const unsigned long long at = 4 * block + i - position;
    if (at < n) out[at] = low + range * (static_cast<float>(words.w[i] >> 8) * 0x1p-24f);
  }
}

// Box-Muller pairs in double precision. After rounding to float, devices differ at most in the last
// place.
REPRISE_KERNEL(reprise_rng_normal, (const unsigned long long* state, float* out,
                                    unsigned long long n, float mean, float deviation)) {
  const unsigned long long position = state[2];
  const unsigned long long block =
      position / 4 + (static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x);
  if (4 * block >= position + n) return;
  const reprise_ops::PhiloxWords words = reprise_ops::philox_block(state[0], state[1], block);
  for (int pair = 0; pair < 2; ++pair) {
    const double radius =
        sqrt(-2.0 * log((static_cast<double>(words.w[2 * pair]) + 1.0) * 0x1p-32));
    const double angle =
        6.283185307179586476925 * (static_cast<double>(words.w[2 * pair + 1]) * 0x1p-32);
    const double values[2] = {radius * cos(angle), radius * sin(angle)};
    for (int i = 0; i < 2; ++i) {
      const unsigned long long at = 4 * block + 2 * pair + i - position;
      if (at < n)
        out[at] = static_cast<float>(static_cast<double>(mean) +
                                     static_cast<double>(deviation) * values[i]);
    }
  }
}

REPRISE_KERNEL(reprise_rng_advance, (unsigned long long* state, unsigned long long n)) {
  state[2] += n;
}
