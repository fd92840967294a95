// Fills buffers with random values. `state`: seed, subsequence, position of the next value. Each
// thread computes blocks of four values of the stream. `advances`: a single block of threads also
// sets the position to that behind its values.
#include <reprise_kernel.hpp>

#include "ops/philox.hpp"

// Calls fill(words, at) with the four words of a block and the index of the first in the buffer,
// which wraps around for values before it.
template <class Fill>
static __device__ void fill_blocks(unsigned long long* state, unsigned long long n, bool advances,
                                   const Fill& fill) {
  const unsigned long long position = state[2],
                           stride = static_cast<unsigned long long>(gridDim.x) * blockDim.x;
  for (unsigned long long block =
           position / 4 + static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x;
       4 * block < position + n; block += stride)
    fill(reprise_ops::philox_block(state[0], state[1], block), 4 * block - position);
  if (!advances) return;
  __syncthreads();
  if (threadIdx.x == 0) state[2] = position + n;
}

REPRISE_KERNEL(reprise_rng_uniform, (unsigned long long* state, float* out, unsigned long long n,
                                     float low, float range, bool advances)) {
  fill_blocks(state, n, advances,
              [&](const reprise_ops::PhiloxWords& words, unsigned long long first) {
                for (int i = 0; i < 4; ++i) {
                  const unsigned long long at = first + i;
                  if (at < n)
                    out[at] = low + range * (static_cast<float>(words.w[i] >> 8) * 0x1p-24f);
                }
              });
}

// Box-Muller pairs in double precision. After rounding to float, devices differ at most in the last
// place.
REPRISE_KERNEL(reprise_rng_normal, (unsigned long long* state, float* out, unsigned long long n,
                                    float mean, float deviation, bool advances)) {
  fill_blocks(
      state, n, advances, [&](const reprise_ops::PhiloxWords& words, unsigned long long first) {
        for (int pair = 0; pair < 2; ++pair) {
          const double radius =
              sqrt(-2.0 * log((static_cast<double>(words.w[2 * pair]) + 1.0) * 0x1p-32));
          const double angle =
              6.283185307179586476925 * (static_cast<double>(words.w[2 * pair + 1]) * 0x1p-32);
          const double values[2] = {radius * cos(angle), radius * sin(angle)};
          for (int i = 0; i < 2; ++i) {
            const unsigned long long at = first + 2 * pair + i;
            if (at < n)
              out[at] = static_cast<float>(static_cast<double>(mean) +
                                           static_cast<double>(deviation) * values[i]);
          }
        }
      });
}

REPRISE_KERNEL(reprise_rng_advance, (unsigned long long* state, unsigned long long n)) {
  state[2] += n;
}
