// The kernels of the examples.
#include <reprise_kernel.hpp>

REPRISE_KERNEL(scale, (float factor, const float* x, float* y, unsigned n)) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = factor * x[i];
}

REPRISE_KERNEL(add, (float value, float* x, unsigned n)) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += value;
}

// Dispatched with one thread.
REPRISE_KERNEL(halve, (float* x, float limit, reprise_condition go)) {
  *x *= 0.5f;
  reprise_set_condition(go, *x > limit);
}
REPRISE_KERNEL(choose, (const unsigned* number, reprise_condition choice)) {
  reprise_set_condition(choice, *number);
}

REPRISE_CONSTANT(weights, float[4])
REPRISE_KERNEL(weigh, (float* x, unsigned n)) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= weights[i % 4];
}
