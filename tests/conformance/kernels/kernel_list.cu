// Kernels that a search for their names in the text would get wrong. A comment with a
// REPRISE_KERNEL(commented_out, (int* x)) declares nothing.
#include <reprise_kernel.hpp>

struct Scale {
  float factor;
  int shift;
};

#if 0
REPRISE_KERNEL(left_out, (int* x)) { *x = 1; }
#endif

#define DEFINE_FILL(T) \
  REPRISE_KERNEL(fill_##T, (T * x, T value)) { x[threadIdx.x] = value; }
DEFINE_FILL(float)
DEFINE_FILL(int)
#undef DEFINE_FILL

#ifdef __CUDACC__
REPRISE_KERNEL(gpu_only_scale, (Scale scale, const float* from, float* to, bool negate)) {
  const float value = from[threadIdx.x] * scale.factor + static_cast<float>(scale.shift);
  to[threadIdx.x] = negate ? -value : value;
}
#endif
