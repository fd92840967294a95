// A kernel of an application without shader files: nvcc compiles it as any other code.
__global__ void application_scale(float* x, float factor, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = x[i] * factor;
}

// The same kernel with C linkage, for modules.
extern "C" __global__ void module_scale(float* x, float factor, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = x[i] * factor;
}
