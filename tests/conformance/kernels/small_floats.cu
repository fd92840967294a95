// Arithmetic of half and bfloat16.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <reprise_kernel.hpp>

// The results of one triple, as bits: sum, difference, product, quotient, fused multiply-add,
// square root, minimum, maximum, comparisons, and those of the pair (a, c) with (b, b).
constexpr unsigned kSmallFloatResults = 11;

template <class T, class Pair>
__device__ void small_float_results(T a, T b, T c, T* to) {
  to[0] = a + b;
  to[1] = a - b;
  to[2] = a * b;
  to[3] = a / b;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
  to[4] = T(0.0f);  // such GPUs have no __hfma() for bfloat16
#else
  to[4] = __hfma(a, b, c);
#endif
  to[5] = hsqrt(__habs(a));
  to[6] = __hmin(a, b);
  to[7] = __hmax(a, b);
  to[8] = T(static_cast<float>((a < b ? 1 : 0) + (a <= b ? 2 : 0) + (a == b ? 4 : 0) +
                               (__hgt(a, b) ? 8 : 0) + (__hne(a, b) ? 16 : 0)));
  const Pair sum = __hadd2(Pair{a, c}, Pair{b, b}), product = Pair{a, c} * Pair{b, b};
  to[9] = sum.y;
  to[10] = product.y;
}

REPRISE_KERNEL(conf_half, (const __half* in, __half* out, unsigned n)) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    small_float_results<__half, __half2>(in[3 * i], in[3 * i + 1], in[3 * i + 2],
                                         out + kSmallFloatResults * i);
}

REPRISE_KERNEL(conf_bfloat16, (const __nv_bfloat16* in, __nv_bfloat16* out, unsigned n)) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    small_float_results<__nv_bfloat16, __nv_bfloat162>(in[3 * i], in[3 * i + 1], in[3 * i + 2],
                                                       out + kSmallFloatResults * i);
}

// Conversions: `wide` to half and bfloat16, and those back to float.
REPRISE_KERNEL(conf_convert,
               (const double* wide, __half* halves, __nv_bfloat16* brains, float* back)) {
  const unsigned i = threadIdx.x;
  halves[i] = __double2half(wide[i]);
  brains[i] = __double2bfloat16(wide[i]);
  back[2 * i] = __half2float(halves[i]);
  back[2 * i + 1] = __bfloat162float(brains[i]);
}
