// Kernels that run instances of templates.
#include <reprise_kernel.hpp>

// Reverses the N elements of each block.
template <class T, unsigned N>
__device__ void reverse(const T* from, T* to, unsigned char blocks) {
  __shared__ T values[N];
  const unsigned begin = blockIdx.x * N;
  values[threadIdx.x] = from[begin + threadIdx.x];
  __syncthreads();
  if (blockIdx.x < blocks) to[begin + threadIdx.x] = values[N - 1 - threadIdx.x];
}
REPRISE_KERNEL_INSTANCE(reverse_float_64, reverse<float, 64>)
REPRISE_KERNEL_INSTANCE(reverse_short_32, reverse<short, 32>)

struct Line {
  float slope;
  double offset;
};

// Parameters of many alignments.
template <class T>
__device__ void evaluate(char sign, Line line, bool negate, T* x, short n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  const double y = sign * (line.slope * static_cast<double>(x[i]) + line.offset);
  x[i] = static_cast<T>(negate ? -y : y);
}
REPRISE_KERNEL_INSTANCE(evaluate_double, evaluate<double>)
REPRISE_KERNEL_INSTANCE(evaluate_int, evaluate<int>)
