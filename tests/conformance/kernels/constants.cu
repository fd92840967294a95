// Variables in constant memory: an array, a structure, one that has a value from the start, and one
// on GPUs only.
#include <reprise_kernel.hpp>

struct Ramp {
  float slope, offset;
};
REPRISE_CONSTANT(table, int[64])
REPRISE_CONSTANT(ramp, Ramp)
__constant__ float scale = 0.5f;

REPRISE_KERNEL(read_table, (int* out)) { out[threadIdx.x] = table[threadIdx.x]; }
REPRISE_KERNEL(on_ramp, (const float* x, float* y)) {
  y[threadIdx.x] = ramp.slope * x[threadIdx.x] + ramp.offset + scale;
}

#ifdef __CUDACC__
REPRISE_CONSTANT(gpu_only_bias, int)
REPRISE_KERNEL(add_gpu_only_bias, (int* x)) { x[threadIdx.x] += gpu_only_bias; }
#endif
