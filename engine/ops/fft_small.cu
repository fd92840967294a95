// Fourier transforms of 2 to kMaxSmallFft values, a power of two; one block for each, with any
// number of threads. Stages of radix 4, the first of radix 2 if need be, go back and forth between
// two halves of the shared memory (Stockham). A real signal is transformed as half as many complex
// values, one for each pair. A block loads its whole input before it stores.
#include <reprise_kernel.hpp>

static __device__ float2 sum(float2 a, float2 b) { return make_float2(a.x + b.x, a.y + b.y); }
static __device__ float2 difference(float2 a, float2 b) {
  return make_float2(a.x - b.x, a.y - b.y);
}
static __device__ float2 product(float2 a, float2 b) {
  return make_float2(fmaf(a.x, b.x, -(a.y * b.y)), fmaf(a.x, b.y, a.y * b.x));
}
static __device__ float2 conjugate(float2 a) { return make_float2(a.x, -a.y); }
// exp(pi * i * x), which is exact where 2 * x is an integer.
static __device__ float2 root(float x) {
  float2 w;
  sincospif(x, &w.y, &w.x);
  return w;
}

// One stage for n values: combines kRadix transforms of `done` values each to one of
// kRadix * done values. Only a first stage, of done = 1, may have another radix than 4. `sign`: -1
// for forward, 1 for inverse transforms. `turn`: sign / (2 * done), which a first stage ignores.
template <unsigned kRadix, class Load>
static __device__ void stage(const Load& load, float2* to, unsigned n, unsigned done, float sign,
                             float turn = 0.0f) {
  const unsigned apart = n / kRadix;
  for (unsigned i = threadIdx.x; i < apart; i += blockDim.x) {
    float2 x[kRadix];
    for (unsigned r = 0; r < kRadix; ++r) x[r] = load(i + r * apart);
    const unsigned k = i & (done - 1);
    if constexpr (kRadix == 4) {
      if (done != 1) {
        const float2 w = root(turn * static_cast<float>(k)),
                     square = root(2.0f * turn * static_cast<float>(k));
        x[1] = product(x[1], w);
        x[2] = product(x[2], square);
        x[3] = product(x[3], product(w, square));
      }
    }
    float2* const out = to + (i - k) * kRadix + k;
    if constexpr (kRadix == 1) {
      out[0] = x[0];
    } else if constexpr (kRadix == 2) {
      out[0] = sum(x[0], x[1]);
      out[done] = difference(x[0], x[1]);
    } else {
      const float2 a = sum(x[0], x[2]), b = difference(x[0], x[2]), c = sum(x[1], x[3]),
                   d = difference(x[1], x[3]), turned = make_float2(-sign * d.y, sign * d.x);
      out[0] = sum(a, c);
      out[done] = sum(b, turned);
      out[2 * done] = difference(a, c);
      out[3 * done] = difference(b, turned);
    }
  }
}

// Transforms the values load(0) to load(n - 1). `shared` has 2 * n values, one half of which is the
// result. Ends with a barrier.
template <class Load>
static __device__ const float2* transform(const Load& load, float2* shared, unsigned n,
                                          float sign) {
  float2 *from = shared, *to = shared + n;
  unsigned done = (n & 0x55555555u) == 0 ? 2 : n == 1 ? 1 : 4;
  if (done == 1) stage<1>(load, from, n, 1, sign);
  if (done == 2) stage<2>(load, from, n, 1, sign);
  if (done == 4) stage<4>(load, from, n, 1, sign);
  __syncthreads();
  for (float turn = done == 2 ? 0.25f * sign : 0.125f * sign; done < n; done *= 4, turn *= 0.25f) {
    stage<4>([from](unsigned i) { return from[i]; }, to, n, done, sign, turn);
    float2* const next = from;
    from = to;
    to = next;
    __syncthreads();
  }
  return from;
}

REPRISE_KERNEL(reprise_fft_c2c, (const float2* input, float2* output, unsigned size, float sign)) {
  REPRISE_DYNAMIC_SHARED(float2, shared);
  input += blockIdx.x * size;
  output += blockIdx.x * size;
  const float2* const values =
      transform([input](unsigned i) { return input[i]; }, shared, size, sign);
  for (unsigned i = threadIdx.x; i < size; i += blockDim.x) output[i] = values[i];
}

// The values at even and at odd positions are real signals, so bins k and size / 2 - k of the pairs
// determine these bins of both. The result is even + exp(-2 * pi * i * k / size) * odd.
REPRISE_KERNEL(reprise_fft_r2c,
               (const float* input, float2* output, unsigned size,
                unsigned long long input_distance, unsigned long long output_distance)) {
  REPRISE_DYNAMIC_SHARED(float2, shared);
  input += blockIdx.x * input_distance;
  output += blockIdx.x * output_distance;
  const unsigned half = size / 2;
  const float2* const pairs =
      transform([input](unsigned i) { return make_float2(input[2 * i], input[2 * i + 1]); }, shared,
                half, -1.0f);
  const float turn = -2.0f / static_cast<float>(size);
  for (unsigned k = threadIdx.x; k <= half / 2; k += blockDim.x) {
    const float2 a = pairs[k], b = conjugate(pairs[(half - k) & (half - 1)]), s = sum(a, b),
                 d = product(difference(a, b), root(turn * static_cast<float>(k) - 0.5f));
    const float2 even = make_float2(0.5f * s.x, 0.5f * s.y),
                 odd = make_float2(0.5f * d.x, 0.5f * d.y);
    output[k] = sum(even, odd);
    output[half - k] = conjugate(difference(even, odd));
  }
}

// The inverse of the above, times `size`.
REPRISE_KERNEL(reprise_fft_c2r, (const float2* input, float* output, unsigned size)) {
  REPRISE_DYNAMIC_SHARED(float2, shared);
  const unsigned half = size / 2;
  input += blockIdx.x * (half + 1);
  output += blockIdx.x * size;
  const float turn = 2.0f / static_cast<float>(size);
  const auto joined = [=](unsigned k) {
    float2 a = input[k], b = conjugate(input[half - k]);
    if (k == 0) a.y = b.y = 0.0f;
    return sum(sum(a, b), product(difference(a, b), root(turn * static_cast<float>(k) + 0.5f)));
  };
  const float2* const pairs = transform(joined, shared, half, 1.0f);
  for (unsigned i = threadIdx.x; i < half; i += blockDim.x) {
    output[2 * i] = pairs[i].x;
    output[2 * i + 1] = pairs[i].y;
  }
}
