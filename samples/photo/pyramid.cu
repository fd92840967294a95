// The kernels of the image pyramid. A plane holds one channel as floats in 0..255, row-major.
// Coordinates beyond the border are clamped to it.
#include <reprise_kernel.hpp>

#define EDGE_TILE 16
#define BINS 256

__device__ inline unsigned clamped(int i, unsigned count) {
  return i < 0 ? 0u : static_cast<unsigned>(i) >= count ? count - 1 : static_cast<unsigned>(i);
}

__device__ inline unsigned char to_byte(float value) {
  return static_cast<unsigned char>(fminf(fmaxf(value, 0.0f), 255.0f) + 0.5f);
}

// One channel of `pixels` interleaved pixels of three bytes.
REPRISE_KERNEL(split_channel,
               (const unsigned char* rgb, float* plane, unsigned pixels, unsigned channel)) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < pixels) plane[i] = static_cast<float>(rgb[3 * i + channel]);
}

__device__ inline float smooth(float a, float b, float c, float d, float e) {
  return (a + e + 4.0f * (b + d) + 6.0f * c) * 0.0625f;
}

// Smooths along the rows and keeps every second column: out is half_width x height.
REPRISE_KERNEL(halve_width, (const float* in, float* out, unsigned width, unsigned height,
                             unsigned half_width)) {
  const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= half_width || y >= height) return;
  const float* row = in + static_cast<size_t>(y) * width;
  const int at = static_cast<int>(2 * x);
  out[static_cast<size_t>(y) * half_width + x] =
      smooth(row[clamped(at - 2, width)], row[clamped(at - 1, width)], row[clamped(at, width)],
             row[clamped(at + 1, width)], row[clamped(at + 2, width)]);
}

// Smooths along the columns and keeps every second row: out is width x half_height.
REPRISE_KERNEL(halve_height, (const float* in, float* out, unsigned width, unsigned height,
                              unsigned half_height)) {
  const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= half_height) return;
  const int at = static_cast<int>(2 * y);
  float taps[5];
  for (int t = 0; t < 5; ++t)
    taps[t] = in[static_cast<size_t>(clamped(at + t - 2, height)) * width + x];
  out[static_cast<size_t>(y) * width + x] = smooth(taps[0], taps[1], taps[2], taps[3], taps[4]);
}

// Weights of the three coarse neighbours of a fine pixel: 1 6 1 over 8 on a coarse one, 0 4 4 over
// 8 between two.
__device__ inline void expansion(unsigned fine, float weights[3]) {
  const bool between = (fine & 1) != 0;
  weights[0] = between ? 0.0f : 0.125f;
  weights[1] = between ? 0.5f : 0.75f;
  weights[2] = between ? 0.5f : 0.125f;
}

// out = fine + sign * (coarse expanded to width x height): the Laplacian with sign -1, its reversal
// with +1.
REPRISE_KERNEL(add_expanded,
               (const float* fine, const float* coarse, float* out, unsigned width, unsigned height,
                unsigned coarse_width, unsigned coarse_height, float sign)) {
  const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float across[3], down[3];
  expansion(x, across);
  expansion(y, down);
  float sum = 0.0f;
  for (int j = 0; j < 3; ++j) {
    const float* row =
        coarse +
        static_cast<size_t>(clamped(static_cast<int>(y / 2) + j - 1, coarse_height)) * coarse_width;
    float in_row = 0.0f;
    for (int i = 0; i < 3; ++i)
      in_row += across[i] * row[clamped(static_cast<int>(x / 2) + i - 1, coarse_width)];
    sum += down[j] * in_row;
  }
  const size_t at = static_cast<size_t>(y) * width + x;
  out[at] = fine[at] + sign * sum;
}

// Three planes as interleaved bytes of gain * value + offset, rounded and limited to 0..255.
REPRISE_KERNEL(merge_channels, (const float* red, const float* green, const float* blue,
                                unsigned char* rgb, unsigned pixels, float gain, float offset)) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= pixels) return;
  rgb[3 * i] = to_byte(gain * red[i] + offset);
  rgb[3 * i + 1] = to_byte(gain * green[i] + offset);
  rgb[3 * i + 2] = to_byte(gain * blue[i] + offset);
}

// Half the length of the Sobel gradient of the luminance, as bytes. Blocks of EDGE_TILE x EDGE_TILE
// threads.
REPRISE_KERNEL(gradient_edges, (const float* red, const float* green, const float* blue,
                                unsigned char* edges, unsigned width, unsigned height)) {
  __shared__ float light[EDGE_TILE + 2][EDGE_TILE + 2];
  const int left = static_cast<int>(blockIdx.x * EDGE_TILE) - 1;
  const int top = static_cast<int>(blockIdx.y * EDGE_TILE) - 1;
  for (unsigned i = threadIdx.y * EDGE_TILE + threadIdx.x; i < (EDGE_TILE + 2) * (EDGE_TILE + 2);
       i += EDGE_TILE * EDGE_TILE) {
    const unsigned tx = i % (EDGE_TILE + 2);
    const unsigned ty = i / (EDGE_TILE + 2);
    const size_t at = static_cast<size_t>(clamped(top + static_cast<int>(ty), height)) * width +
                      clamped(left + static_cast<int>(tx), width);
    light[ty][tx] = 0.299f * red[at] + 0.587f * green[at] + 0.114f * blue[at];
  }
  __syncthreads();
  const unsigned x = blockIdx.x * EDGE_TILE + threadIdx.x;
  const unsigned y = blockIdx.y * EDGE_TILE + threadIdx.y;
  if (x >= width || y >= height) return;
  const unsigned c = threadIdx.x + 1;
  const unsigned r = threadIdx.y + 1;
  const float across = (light[r - 1][c + 1] - light[r - 1][c - 1]) +
                       2.0f * (light[r][c + 1] - light[r][c - 1]) +
                       (light[r + 1][c + 1] - light[r + 1][c - 1]);
  const float down = (light[r + 1][c - 1] - light[r - 1][c - 1]) +
                     2.0f * (light[r + 1][c] - light[r - 1][c]) +
                     (light[r + 1][c + 1] - light[r - 1][c + 1]);
  edges[static_cast<size_t>(y) * width + x] = to_byte(0.5f * sqrtf(across * across + down * down));
}

// Adds how often each value occurs in one channel to `bins`. Blocks of BINS threads; any grid.
REPRISE_KERNEL(channel_histogram,
               (const unsigned char* rgb, unsigned* bins, unsigned pixels, unsigned channel)) {
  __shared__ unsigned counts[BINS];
  counts[threadIdx.x] = 0;
  __syncthreads();
  for (unsigned i = blockIdx.x * BINS + threadIdx.x; i < pixels; i += gridDim.x * BINS) {
    atomicAdd(&counts[rgb[3 * i + channel]], 1u);
  }
  __syncthreads();
  if (counts[threadIdx.x] != 0) atomicAdd(&bins[threadIdx.x], counts[threadIdx.x]);
}
