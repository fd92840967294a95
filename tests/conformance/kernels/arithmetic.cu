// Arithmetic of each floating-point type. Thread i writes the bits of what it computes with the
// three elements of `in` from 3 i to words of `out` from kArithmeticRow i, one for each result.
// nvcc compiles more operations than the host device has.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstring>

#include <reprise_kernel.hpp>

constexpr unsigned kArithmeticRow = 96;

namespace {

struct ArithmeticRow {
  unsigned long long* to;

  template <class T>
  __device__ void put(T value) {
    unsigned long long bits = 0;
    memcpy(&bits, &value, sizeof value);
    *to++ = bits;
  }
#ifdef __CUDACC__
  // Atomic sums of one thread, in global and in shared memory.
  template <class T>
  __device__ void put_atomic_sum(T a, T b) {
    __shared__ T in_shared[128];
    T* const in_global = reinterpret_cast<T*>(to++);
    *in_global = in_shared[threadIdx.x] = a;
    put(atomicAdd(in_global, b));
    put(atomicAdd(&in_shared[threadIdx.x], b));
    put(in_shared[threadIdx.x]);
  }
#endif
};

// A multiplication next to an addition must not be contracted.
template <class T>
__device__ void put_operators(ArithmeticRow& row, T a, T b, T c) {
  row.put(a * b + c);
  row.put(a * b - c);
  row.put(c - a * b);
  row.put((a + b) * c);
  row.put(a * b + b * c);
  row.put((a - b) * (a + b));
  row.put(a / b + c);
  row.put(-a * b + c);
  row.put(-a);
  row.put((a < b ? 1u : 0u) | (a <= b ? 2u : 0u) | (a == b ? 4u : 0u) | (a > b ? 8u : 0u) |
          (a >= b ? 16u : 0u) | (a != b ? 32u : 0u));
}

template <class T>
__device__ void put_wide(ArithmeticRow& row, T a, T b, T c) {
  put_operators(row, a, b, c);
  row.put(fma(a, b, c));
  row.put(fma(-a, b, c) * b);
  row.put(fmin(a, b));
  row.put(fmax(a, b));
  row.put(fabs(a));
  row.put(sqrt(a));
  row.put(1 / a);
  row.put(floor(a));
  row.put(trunc(a));
  row.put(rint(a));
  row.put(exp(a));
  row.put(sin(b));
}

template <class T, class Pair>
__device__ void put_small(ArithmeticRow& row, T a, T b, T c) {
  put_operators(row, a, b, c);
  row.put(__hadd(__hmul(a, b), c));
  row.put(__hsub(__hmul(a, b), c));
  row.put(__hsub(c, __hmul(a, b)));
  row.put(__hadd_rn(__hmul_rn(a, b), c));
  row.put(__hmin(a, b));
  row.put(__hmax(a, b));
  row.put(__habs(a));
  row.put(__hneg(a));
  row.put(hsqrt(a));
  row.put(hrsqrt(a));
  row.put(hexp(a));
  row.put(hlog(a));
  row.put(hfloor(a));
  row.put(hceil(a));
  row.put(htrunc(a));
  row.put(hrint(a));
  row.put(static_cast<float>(a) * static_cast<float>(b) + static_cast<float>(c));
  row.put(T(static_cast<float>(a) * 3.0f));
  const Pair x{a, b}, y{b, c}, z{c, a};
  row.put(x * y + z);
  row.put(x * y - z);
  row.put(x / y);
  row.put(__hadd2(__hmul2(x, x), x));
  row.put(__hadd2(__hmul2(x, y), z));
  row.put(__hsub2(__hmul2(x, y), z));
  row.put(__hsub2(z, __hmul2(x, y)));
  row.put(__hmul2(__hadd2(x, y), z));
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800  // others lack it for bfloat16
  row.put(__hfma(a, b, c));
  row.put(__hfma2(x, y, z));
  row.put(__hadd2(__hfma2(x, y, z), x));
#endif
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  row.put(__hadd_sat(__hmul_sat(a, b), c));
  row.put(__hsub_sat(__hmul_sat(a, b), c));
  row.put(__hfma_sat(a, b, c));
  row.put(__hfma_relu(a, b, c));
  row.put(__hmin_nan(a, b));
  row.put(__hmax_nan(a, b));
  row.put(hrcp(a));
  row.put(hlog2(a));
  row.put(hexp2(a));
  row.put(hsin(a));
  row.put(__hadd2_sat(__hmul2_sat(x, y), z));
  row.put(__hsub2_sat(__hmul2_sat(x, y), z));
  row.put(__hadd2_rn(__hmul2_rn(x, y), z));
  row.put(__hfma2_sat(x, y, z));
  row.put(__hfma2_relu(x, y, z));
  row.put(__hcmadd(x, y, z));
  row.put(__hneg2(x));
  row.put(__habs2(x));
  row.put(__hmin2(x, y));
  row.put(__hmax2(x, y));
  row.put(__heq2(x, y));
  row.put(__hltu2(x, y));
  row.put(h2sqrt(x));
  row.put(h2rsqrt(x));
  row.put(h2rcp(x));
  row.put(h2exp2(x));
  row.put(h2rint(x));
  row.put_atomic_sum(a, b);
  row.put_atomic_sum(x, y);
#endif
}

}  // namespace

REPRISE_KERNEL(conf_half_arithmetic, (const __half* in, unsigned long long* out, unsigned n)) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  ArithmeticRow row{out + kArithmeticRow * i};
  put_small<__half, __half2>(row, in[3 * i], in[3 * i + 1], in[3 * i + 2]);
#ifdef __CUDACC__
  row.put(__half2int_rn(in[3 * i]));
  row.put(__half2ull_rz(in[3 * i]));
  row.put(__short2half_rn(__half_as_short(in[3 * i])));
#endif
}

REPRISE_KERNEL(conf_bfloat16_arithmetic,
               (const __nv_bfloat16* in, unsigned long long* out, unsigned n)) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  ArithmeticRow row{out + kArithmeticRow * i};
  put_small<__nv_bfloat16, __nv_bfloat162>(row, in[3 * i], in[3 * i + 1], in[3 * i + 2]);
#ifdef __CUDACC__
  row.put(__bfloat162int_rn(in[3 * i]));
  row.put(__bfloat162ull_rz(in[3 * i]));
  row.put(__short2bfloat16_rn(__bfloat16_as_short(in[3 * i])));
#endif
}

REPRISE_KERNEL(conf_float_arithmetic, (const float* in, unsigned long long* out, unsigned n)) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float a = in[3 * i], b = in[3 * i + 1], c = in[3 * i + 2];
  ArithmeticRow row{out + kArithmeticRow * i};
  put_wide(row, a, b, c);
  row.put(__fadd_rn(__fmul_rn(a, b), c));
  row.put(__saturatef(a * b + c));
  row.put(__fdividef(a, b) + c);
  row.put(rsqrtf(a));
  row.put(__frcp_rn(a));
  row.put(__float2int_rn(a));
  row.put(__float2ull_rz(a));
  row.put(static_cast<double>(a) * static_cast<double>(b) + static_cast<double>(c));
  row.put(__half(a));
  row.put(__nv_bfloat16(a));
#ifdef __CUDACC__
  row.put(__expf(a));
  row.put(__logf(a));
  row.put(__sinf(a));
  row.put(__powf(a, b));
  row.put(powf(a, b));
  row.put(tanhf(a));
  float x = 0;
  asm("{ .reg .f32 t; mul.f32 t, %1, %2; add.f32 %0, t, %3; }" : "=f"(x) : "f"(a), "f"(b), "f"(c));
  row.put(x);
  asm("{ .reg .f32 t; mul.ftz.f32 t, %1, %2; sub.ftz.sat.f32 %0, t, %3; }"
      : "=f"(x)
      : "f"(a), "f"(b), "f"(c));
  row.put(x);
  asm("div.full.f32 %0, %1, %2;" : "=f"(x) : "f"(a), "f"(b));
  row.put(x);
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(x) : "f"(a));
  row.put(x);
  asm("tanh.approx.f32 %0, %1;" : "=f"(x) : "f"(a));
  row.put(x);
  row.put_atomic_sum(a, b);
#endif
}

REPRISE_KERNEL(conf_double_arithmetic, (const double* in, unsigned long long* out, unsigned n)) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const double a = in[3 * i], b = in[3 * i + 1], c = in[3 * i + 2];
  ArithmeticRow row{out + kArithmeticRow * i};
  put_wide(row, a, b, c);
  row.put(__dadd_rn(__dmul_rn(a, b), c));
  row.put(rsqrt(a));
  row.put(__drcp_rn(a));
  row.put(__double2int_rn(a));
  row.put(__double2ull_rz(a));
  row.put(__double2float_rn(a));
#ifdef __CUDACC__
  double x = 0;
  asm("{ .reg .f64 t; mul.f64 t, %1, %2; sub.f64 %0, t, %3; }" : "=d"(x) : "d"(a), "d"(b), "d"(c));
  row.put(x);
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(x) : "d"(a));
  row.put(x);
  row.put_atomic_sum(a, b);
#endif
}
