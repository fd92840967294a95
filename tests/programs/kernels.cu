// Kernels of random programs, besides those of the conformance suite.
#include <reprise_kernel.hpp>

// Reverses the words of each block through shared memory.
REPRISE_KERNEL(program_reverse, (const unsigned* in, unsigned* out)) {
  REPRISE_DYNAMIC_SHARED(unsigned, words);
  const unsigned first = blockIdx.x * blockDim.x;
  words[blockDim.x - 1 - threadIdx.x] = in[first + threadIdx.x];
  __syncthreads();
  out[first + threadIdx.x] = words[threadIdx.x];
}

REPRISE_KERNEL(program_sum, (const unsigned* in, unsigned* out, unsigned factor, unsigned n)) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(out, in[i] * factor);
}

REPRISE_KERNEL(program_decide,
               (const unsigned* value, unsigned modulus, reprise_condition condition)) {
  reprise_set_condition(condition, *value % modulus);
}
