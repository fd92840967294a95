// Fourier transforms of kMinSmallFft to kMaxSmallFft values, a power of two; one block for each.
// Every thread combines eight complex values at a time; threads beyond an eighth of the values
// repeat the work of others. Stages of radix 8, the first of radix 2 or 4 if need be, exchange
// values through two parts of the shared memory in turn (Stockham). A real signal is transformed as
// half as many complex values, one for each pair. A block loads its whole input before it stores.
#include <reprise_kernel.hpp>

static __device__ float2 sum(float2 a, float2 b) { return make_float2(a.x + b.x, a.y + b.y); }
static __device__ float2 difference(float2 a, float2 b) {
  return make_float2(a.x - b.x, a.y - b.y);
}
static __device__ float2 conjugate(float2 a) { return make_float2(a.x, -a.y); }
static __device__ float2 scaled(float a, float2 b) { return make_float2(a * b.x, a * b.y); }
static __device__ float2 product(float2 a, float2 b) {
  return make_float2(fmaf(a.x, b.x, -(a.y * b.y)), fmaf(a.x, b.y, a.y * b.x));
}
// c + a * b
static __device__ float2 sum(float2 c, float2 a, float2 b) {
  return make_float2(fmaf(-a.y, b.y, fmaf(a.x, b.x, c.x)), fmaf(a.y, b.x, fmaf(a.x, b.y, c.y)));
}

// The root of unity with which products cost nothing.
struct One {};
static __device__ float2 product(One, float2 b) { return b; }
static __device__ float2 sum(float2 c, One, float2 b) { return sum(c, b); }

// exp(2 * pi * i * x) for |x| <= 1/4, with an error of less than 2^-23.
static __device__ float2 root(float x) {
  const float y = x * x;
  // sin(2 * pi * x) / x - 6.28125 and (cos(2 * pi * x) - 1) / y + 20
  const float sine =
      fmaf(fmaf(fmaf(fmaf(39.7598271f, y, -76.5811726f), y, 81.6024764f), y, -41.3416806f), y,
           0.00193530718f);
  const float cosine =
      fmaf(fmaf(fmaf(fmaf(-25.2181623f, y, 60.1790383f), y, -85.4553575f), y, 64.9393826f), y,
           0.2607912f);
  return make_float2(fmaf(cosine, y, fmaf(-20.0f, y, 1.0f)), fmaf(6.28125f, x, sine * x));
}

// Replaces x[k], for each k, by the sum of (*w * exp(-2 * pi * i * k / kCount))^r * x[r] over r.
// w[1] is the square of w[0], and w[2] of w[1].
template <unsigned kCount, class Root>
static __device__ void combine(float2* x, const Root* w) {
  if constexpr (kCount > 1) {
    constexpr unsigned kHalf = kCount / 2;
    float2 even[kHalf], odd[kHalf];
    for (unsigned r = 0; r < kHalf; ++r) {
      even[r] = x[2 * r];
      odd[r] = x[2 * r + 1];
    }
    combine<kHalf>(even, w + 1);
    combine<kHalf>(odd, w + 1);
    const float2 eighth = make_float2(0.707106781f, -0.707106781f);
    for (unsigned k = 0; k < kHalf; ++k) {
      const float2 a = even[k], b = 4 * k < kCount ? odd[k] : make_float2(odd[k].y, -odd[k].x);
      x[k] = kCount == 8 && k % 2 == 1 ? sum(a, product(*w, eighth), b) : sum(a, *w, b);
      x[k + kHalf] = make_float2(fmaf(2.0f, a.x, -x[k].x), fmaf(2.0f, a.y, -x[k].y));
    }
  }
}

// Where value i + r * step is in shared memory, for r < 8 and a step that is a power of two, if i
// and r * step have no bits in common. Avoids bank conflicts.
static __device__ unsigned mixed(unsigned i) { return i ^ (i >> 1) ^ (i >> 3); }
static __device__ unsigned mixed(unsigned i, unsigned r, unsigned step) {
  return mixed(i) ^ (r & 1 ? mixed(step) : 0) ^ (r & 2 ? mixed(2 * step) : 0) ^
         (r & 4 ? mixed(4 * step) : 0);
}

// Combines n values to transforms of kRadix values each. values[r]: value i + r * n / 8.
template <unsigned kRadix>
static __device__ void begin(const float2* values, float2* to, unsigned n, unsigned i) {
  constexpr unsigned kCount = 8 / kRadix;
  for (unsigned j = 0; j < kCount; ++j) {
    const One one[3] = {};
    float2 x[kRadix];
    for (unsigned r = 0; r < kRadix; ++r) x[r] = values[j + r * kCount];
    combine<kRadix>(x, one);
    for (unsigned r = 0; r < kRadix; ++r)
      to[mixed(i * kRadix, j, kRadix * (n / 8)) ^ mixed(r)] = x[r];
  }
}

// Combines n values to transforms of 8 * done values each. `turn`: -1 / (8 * done).
template <class Store>
static __device__ void proceed(const float2* from, const Store& store, unsigned n, unsigned done,
                               unsigned i, float turn) {
  const unsigned k = i & (done - 1);
  float2 x[8];
  __syncthreads();
  for (unsigned r = 0; r < 8; ++r) x[r] = from[mixed(i, r, n / 8)];
  const float first = turn * static_cast<float>(k);
  const float2 w2 = root(2.0f * first), w[] = {root(first), w2, product(w2, w2)};
  combine<8>(x, w);
  store((i - k) * 8 + k, done, x);
}

// Calls load(i, step, x), which sets x[r] to value i + r * step for r < 8, and store(i, step, x)
// with such values of the transform.
template <class Load, class Store>
static __device__ void transform(const Load& load, const Store& store, float2* shared, unsigned n) {
  const unsigned i = threadIdx.x & (n / 8 - 1);
  float2 values[8], *from = shared, *to = shared + n;
  load(i, n / 8, values);
  unsigned done = (n & 0x49249249u) != 0 ? 8 : (n & 0x92492492u) != 0 ? 2 : 4;
  if (done == 2) begin<2>(values, from, n, i);
  if (done == 4) begin<4>(values, from, n, i);
  if (done == 8) begin<8>(values, from, n, i);
  float turn = done == 2 ? -1.0f / 16 : done == 4 ? -1.0f / 32 : -1.0f / 64;
  for (; 8 * done < n; done *= 8, turn *= 0.125f) {
    const auto share = [to](unsigned first, unsigned step, const float2* x) {
      for (unsigned r = 0; r < 8; ++r) to[mixed(first, r, step)] = x[r];
    };
    proceed(from, share, n, done, i, turn);
    float2* const next = from;
    from = to;
    to = next;
  }
  proceed(from, store, n, done, i, turn);
}

// `flip`: 1 for forward, -1 for inverse transforms.
REPRISE_KERNEL(reprise_fft_c2c, (const float2* input, float2* output, unsigned size, float flip)) {
  REPRISE_DYNAMIC_SHARED(float2, shared);
  input += blockIdx.x * size;
  output += blockIdx.x * size;
  const auto load = [=](unsigned i, unsigned step, float2* x) {
    for (unsigned r = 0; r < 8; ++r) x[r] = (input + i)[r * step];
    for (unsigned r = 0; r < 8; ++r) x[r].y *= flip;
  };
  const auto store = [=](unsigned i, unsigned step, const float2* x) {
    for (unsigned r = 0; r < 8; ++r) (output + i)[r * step] = make_float2(x[r].x, flip * x[r].y);
  };
  transform(load, store, shared, size);
}

// The values at even and at odd positions are real signals, so bins k and size / 2 - k of the pairs
// determine these bins of both. The result is even + exp(-2 * pi * i * k / size) * odd, where odd
// is the difference divided by 2 * i. `turn`: 1 / size.
REPRISE_KERNEL(reprise_fft_r2c,
               (const float* input, float2* output, unsigned size, float turn,
                unsigned long long input_distance, unsigned long long output_distance)) {
  REPRISE_DYNAMIC_SHARED(float2, shared);
  input += blockIdx.x * input_distance;
  output += blockIdx.x * output_distance;
  const unsigned half = size / 2;
  float2* const pairs = shared + size;
  const auto load = [=](unsigned i, unsigned step, float2* x) {
    for (unsigned r = 0; r < 8; ++r) {
      const float* const pair = input + 2 * i + 2 * r * step;
      x[r] = make_float2(pair[0], pair[1]);
    }
  };
  const auto store = [=](unsigned i, unsigned step, const float2* x) {
    for (unsigned r = 0; r < 8; ++r) pairs[i + r * step] = x[r];
  };
  transform(load, store, shared, half);
  __syncthreads();
  const unsigned step = half / 8, i = threadIdx.x & (step - 1);
  output[half / 2] = conjugate(pairs[half / 2]);
  for (unsigned r = 0; r < 4; ++r) {
    const unsigned k = i + r * step;
    const float2 a = pairs[k], b = conjugate(pairs[(half - k) & (half - 1)]), both = sum(a, b),
                 bin = sum(scaled(0.5f, both), scaled(0.5f, difference(b, a)),
                           root(0.25f - turn * static_cast<float>(k)));
    output[k] = bin;
    output[half - k] = conjugate(difference(both, bin));
  }
}

// The inverse of the above, times `size`: conjugates before and after a forward transform. Ignores
// the imaginary parts of the first and the last bin.
REPRISE_KERNEL(reprise_fft_c2r, (const float2* input, float* output, unsigned size, float turn)) {
  REPRISE_DYNAMIC_SHARED(float2, shared);
  const unsigned half = size / 2;
  input += blockIdx.x * (half + 1);
  output += blockIdx.x * size;
  const auto load = [=](unsigned i, unsigned step, float2* x) {
    float2 a[8], b[8];
    for (unsigned r = 0; r < 8; ++r) {
      a[r] = (input + i)[r * step];
      b[r] = conjugate((input + (step - i))[(7 - r) * step]);
    }
    if (i == 0) a[0].y = b[0].y = 0.0f;
    for (unsigned r = 0; r < 8; ++r) {
      // Further by a quarter turn for r + 4 than for r.
      const float2 w = root(turn * static_cast<float>(i + r % 4 * step) - 0.25f);
      x[r] = conjugate(
          sum(sum(a[r], b[r]), difference(b[r], a[r]), r < 4 ? w : make_float2(-w.y, w.x)));
    }
  };
  const auto store = [=](unsigned i, unsigned step, const float2* x) {
    for (unsigned r = 0; r < 8; ++r) {
      float* const pair = output + 2 * i + 2 * r * step;
      pair[0] = x[r].x;
      pair[1] = -x[r].y;
    }
  };
  transform(load, store, shared, half);
}
