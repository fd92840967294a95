// Kernels whose values inspections read.
#include <reprise_kernel.hpp>

REPRISE_KERNEL(inspected_scale, (const float* in, float* out, float factor, unsigned n)) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] * factor;
}
// Divides by the distance from `hole`.
REPRISE_KERNEL(inspected_divide, (const float* in, float* out, unsigned hole, unsigned n)) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] / (float(i) - float(hole));
}
