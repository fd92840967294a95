// Rounded arithmetic, saturating conversions, and functions without a result to compare.
#include <reprise_kernel.hpp>

REPRISE_KERNEL(conf_rounded, (const float* in, float* out, double* wide)) {
  const float a = in[0], b = in[1], c = in[2];
  out[0] = __fadd_rn(a, b);
  out[1] = __fmul_rn(a, b);
  out[2] = __fdiv_rn(a, b);
  out[3] = __fmaf_rn(a, b, c);
  out[4] = __fsqrt_rn(a);
  out[5] = __frcp_rn(b);
  out[6] = __int2float_rn(16777217);
  out[7] = __double2float_rn(0.1);
  wide[0] = __dadd_rn(a, b);
  wide[1] = __ddiv_rn(a, b);
  wide[2] = __fma_rn(a, b, c);
  wide[3] = __dsqrt_rn(a);
  wide[4] = __ull2double_rn(~0ull);
}

// in[i] in the four directions, as int, unsigned and long long.
REPRISE_KERNEL(conf_to_integers, (const float* in, long long* out)) {
  const float x = in[threadIdx.x];
  long long* const to = out + 6 * threadIdx.x;
  to[0] = __float2int_rn(x);
  to[1] = __float2int_rz(x);
  to[2] = __float2int_rd(x);
  to[3] = __float2int_ru(x);
  to[4] = __float2uint_rn(x);
  to[5] = __float2ll_rn(x);
}

REPRISE_KERNEL(conf_clock, (long long* out, int n)) {
  const long long before = clock64();
  assert(n > 0);
  if (n < 0) printf("thread %u\n", threadIdx.x);
  out[0] = clock64() - before;
}
