#include <reprise_kernel.hpp>

REPRISE_KERNEL(saxpy, (float a, const float* x, float* y, unsigned n)) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
