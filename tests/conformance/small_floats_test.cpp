#include <cmath>
#include <cstdint>
#include <limits>

#include "conformance/device_fixture.hpp"
#include "small_floats.shaders.hpp"

namespace reprise::test::small_floats_test {

// Element types of the application with the names and sizes of CUDA's.
struct __half {
  std::uint16_t bits;
};
struct __nv_bfloat16 {
  std::uint16_t bits;
};

// A format of 16 bits with this many stored bits of the mantissa.
struct Format {
  int mantissa;
  [[nodiscard]] int max_exponent() const { return (1 << (14 - mantissa)) - 1; }
  [[nodiscard]] int min_exponent() const { return 1 - max_exponent(); }
  // Rounded to nearest even, by the distance of neighbouring numbers.
  [[nodiscard]] double round(double x) const {
    if (x == 0 || !std::isfinite(x)) return x;
    const int exponent = std::max(std::ilogb(x), min_exponent());
    const double unit = std::ldexp(1.0, exponent - mantissa),
                 rounded = std::nearbyint(x / unit) * unit,
                 max = (2 - std::ldexp(1.0, -mantissa)) * std::ldexp(1.0, max_exponent());
    return std::abs(rounded) > max ? std::copysign(std::numeric_limits<double>::infinity(), x)
                                   : rounded;
  }
  [[nodiscard]] double value(std::uint16_t bits) const {
    const int exponent = bits >> mantissa & ((1 << (15 - mantissa)) - 1),
              fraction = bits & ((1 << mantissa) - 1);
    const double sign = (bits >> 15) != 0 ? -1 : 1;
    if (exponent == 0) return sign * std::ldexp(fraction, min_exponent() - mantissa);
    if (exponent == (1 << (15 - mantissa)) - 1)
      return fraction != 0 ? std::nan("") : sign * std::numeric_limits<double>::infinity();
    return sign * std::ldexp(fraction + (1 << mantissa), exponent - max_exponent() - mantissa);
  }
};

template <class T>
struct SmallFloatTest : DeviceFixture {
  // Every pair of special values, and pseudo-random triples.
  static std::vector<T> triples(const Format& format) {
    const auto inf = static_cast<std::uint16_t>(((1 << (15 - format.mantissa)) - 1)
                                                << format.mantissa),
               one = static_cast<std::uint16_t>(format.max_exponent() << format.mantissa);
    const std::uint16_t special[] = {0,
                                     1,
                                     static_cast<std::uint16_t>((1 << format.mantissa) - 1),
                                     static_cast<std::uint16_t>(1 << format.mantissa),
                                     one,
                                     static_cast<std::uint16_t>(one + 1),
                                     static_cast<std::uint16_t>(inf - 1),
                                     inf,
                                     static_cast<std::uint16_t>(inf + 1),
                                     0x8000,
                                     static_cast<std::uint16_t>(0x8000 | one),
                                     static_cast<std::uint16_t>(0x8000 | inf)};
    std::vector<T> in;
    for (const std::uint16_t a : special) {
      for (const std::uint16_t b : special) {
        for (const std::uint16_t v : {a, b, one}) in.push_back({v});
      }
    }
    std::uint32_t state = 1;
    for (int i = 0; i < 3 * 20'000; ++i) {
      state = state * 1'664'525u + 1'013'904'223u;
      in.push_back({static_cast<std::uint16_t>(state >> 16)});
    }
    return in;
  }

  // `ulps`: permitted error of quotients and square roots.
  void check(const KernelDesc& kernel_desc, const Format& format, double ulps) {
    constexpr std::size_t kResults = 11;
    const std::vector<T> in = triples(format);
    const auto n = static_cast<unsigned>(in.size() / 3);
    const auto source = buffer(in, "in");
    const auto out = pool->allocate<T>(n * kResults, "out");
    run([&](CommandBuffer& cmd) {
      cmd.dispatch(kernel(kernel_desc), {.grid = ceil_div(n, 128), .block = 128}, read(source),
                   write(out), n);
    });
    const std::vector<T> found = values(out);
    const bool device_has_fused = is_host() || device.info().compute_major >= 8;
    std::size_t wrong = 0;
    for (unsigned i = 0; i < n; ++i) {
      const double a = format.value(in[3 * i].bits), b = format.value(in[3 * i + 1].bits),
                   c = format.value(in[3 * i + 2].bits);
      // Exact in long double, or far enough from the middle between two numbers.
      const auto fused = static_cast<long double>(a) * b + static_cast<long double>(c);
      const bool has_fused =
          std::abs(c) == 0 || std::abs(a * b) == 0 || std::abs(std::log2(std::abs(a * b / c))) < 40;
      const double compared = (a < b ? 1 : 0) + (a <= b ? 2 : 0) + (a == b ? 4 : 0) +
                              (a > b ? 8 : 0) + (a < b || a > b ? 16 : 0);
      const double expected[kResults] = {format.round(a + b),
                                         format.round(a - b),
                                         format.round(a * b),
                                         format.round(a / b),
                                         format.round(static_cast<double>(fused)),
                                         format.round(std::sqrt(std::abs(a))),
                                         std::fmin(a, b),
                                         std::fmax(a, b),
                                         compared,
                                         format.round(c + b),
                                         format.round(c * b)};
      for (std::size_t r = 0; r < kResults; ++r) {
        if (r == 4 && (!has_fused || !device_has_fused)) continue;
        const double got = format.value(found[i * kResults + r].bits), want = expected[r];
        const double ulp = std::ldexp(
            1.0,
            std::max(want == 0 || !std::isfinite(want) ? format.min_exponent() : std::ilogb(want),
                     format.min_exponent()) -
                format.mantissa);
        const bool is_right =
            std::isnan(want)
                ? std::isnan(got)
                : got == want || ((r == 3 || r == 5) && std::abs(got - want) <= ulps * ulp);
        if (is_right) continue;
        if (wrong++ == 0) {
          INFO("result ", r, " of ", a, ", ", b, ", ", c, ": ", got, ", not ", want);
          CHECK(is_right);
        }
      }
    }
    CHECK(wrong == 0);
  }
};

TEST_CASE_FIXTURE(SmallFloatTest<__half>, "small floats: half rounds every operation once") {
  check(shaders::conf_half, {.mantissa = 10}, 0);
}

TEST_CASE_FIXTURE(SmallFloatTest<__nv_bfloat16>, "small floats: bfloat16 rounds operations once") {
  check(shaders::conf_bfloat16, {.mantissa = 7}, 1);  // CUDA guarantees no bits of those
}

TEST_CASE_FIXTURE(DeviceFixture, "small floats: conversions from double round once") {
  const Format half{.mantissa = 10}, brain{.mantissa = 7};
  std::vector<double> wide;
  for (int i = 0; i < 64; ++i)
    wide.push_back(std::ldexp(1.0 + i / 64.0 + std::ldexp(1.0, -30), i - 40) * (i % 2 ? -1 : 1));
  for (const double x :
       {0.0, -0.0, 65'504.0, 65'519.999, 65'520.0, 1e300, 1.0 + 0x1p-11, 1.0 + 0x1p-11 + 0x1p-40})
    wide.push_back(x);
  const auto count = static_cast<unsigned>(wide.size());
  const auto in = buffer(wide, "wide");
  const auto halves = pool->allocate<__half>(count, "halves");
  const auto brains = pool->allocate<__nv_bfloat16>(count, "brains");
  const auto back = pool->allocate<float>(2 * count, "back");
  run([&](CommandBuffer& cmd) {
    cmd.dispatch(kernel(shaders::conf_convert), {.grid = 1, .block = count}, read(in),
                 write(halves), write(brains), write(back));
  });
  const auto found = values(back);
  const auto bits = values(halves);
  for (std::size_t i = 0; i < wide.size(); ++i) {
    CAPTURE(wide[i]);
    CHECK(static_cast<double>(found[2 * i]) == half.round(wide[i]));
    CHECK(static_cast<double>(found[2 * i + 1]) == brain.round(wide[i]));
    CHECK(half.value(bits[i].bits) == half.round(wide[i]));
  }
}

}  // namespace reprise::test::small_floats_test
