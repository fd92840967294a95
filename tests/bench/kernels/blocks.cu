// Kernels of many blocks, each of which works on its own range of values: a chain of them needs no
// block to wait for another. blocks_near also reads its neighbours' values, blocks_sum all values.
#include <reprise_kernel.hpp>

#include "spin.hpp"

REPRISE_KERNEL(blocks_scale, (const float* x, float* y, unsigned values)) {
  for (unsigned i = threadIdx.x; i < values; i += blockDim.x) {
    const unsigned at = blockIdx.x * values + i;
    y[at] = x[at] * 1.0001f + 0.5f;
  }
}

REPRISE_KERNEL(blocks_spin, (const float* x, float* y, unsigned n, unsigned spin_ns)) {
  const unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at < n) y[at] = x[at] + 1;
  reprise_bench::spin(spin_ns);
}

REPRISE_KERNEL(blocks_near, (const float* x, float* y, unsigned n)) {
  const unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= n) return;
  const unsigned before = at == 0 ? at : at - 1, after = at + 1 < n ? at + 1 : at;
  y[at] = 0.25f * x[before] + 0.5f * x[at] + 0.25f * x[after];
}

REPRISE_KERNEL(blocks_sum, (const float* x, float* y, unsigned n)) {
  __shared__ float sums[256];
  float sum = 0;
  for (unsigned i = threadIdx.x; i < n; i += blockDim.x) sum += x[i];
  sums[threadIdx.x] = sum;
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  const unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at < n) y[at] = x[at] - 1e-6f * sums[0];
}

// The three parts of a step of Adam (Kingma and Ba, 2015), without correction of the bias.
REPRISE_KERNEL(adam_mean, (const float* gradient, float* mean, unsigned n)) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) mean[i] = 0.9f * mean[i] + 0.1f * gradient[i];
}
REPRISE_KERNEL(adam_variance, (const float* gradient, float* variance, unsigned n)) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) variance[i] = 0.999f * variance[i] + 0.001f * gradient[i] * gradient[i];
}
REPRISE_KERNEL(adam_update,
               (const float* mean, const float* variance, float* weights, unsigned n)) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) weights[i] -= 1e-3f * mean[i] / (sqrtf(variance[i]) + 1e-8f);
}

// Stages of the classic Runge-Kutta method for y' = -y: a slope at y + scale * slope, which is also
// added to the result of the step with a weight.
REPRISE_KERNEL(runge_kutta_stage, (const float* y, const float* slope, float* next, float* sum,
                                   float scale, float weight, unsigned n)) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float k = -(y[i] + scale * slope[i]);
  next[i] = k;
  sum[i] += weight * k;
}
REPRISE_KERNEL(runge_kutta_end, (float* y, float* slope, float* sum, unsigned n)) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  y[i] += sum[i];
  sum[i] = 0;
  slope[i] = 0;
}
