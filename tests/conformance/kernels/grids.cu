// Kernels for grids of one, two and three dimensions and for parameters of many types.
#include <reprise_kernel.hpp>

// out[i] = the packed global x, y and z index of thread i; threads are numbered x first.
REPRISE_KERNEL(conf_positions, (unsigned* out)) {
  const unsigned width = gridDim.x * blockDim.x, height = gridDim.y * blockDim.y;
  const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
  const unsigned z = blockIdx.z * blockDim.z + threadIdx.z;
  out[(z * height + y) * width + x] = (x << 20) | (y << 10) | z;
}

// out[i] += 1 for i < n, in a grid that may be larger than n.
REPRISE_KERNEL(conf_count, (unsigned* out, unsigned n)) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] += 1;
}

struct ConfPair {
  double scale;
  int shift;
};

// Parameters of many sizes and alignments.
REPRISE_KERNEL(conf_parameters, (signed char a, double* out, short b, ConfPair pair, const int* in,
                                 float c, unsigned long long d)) {
  out[0] = a;
  out[1] = b;
  out[2] = pair.scale;
  out[3] = pair.shift;
  out[4] = in[0];
  out[5] = c;
  out[6] = static_cast<double>(d);
}
