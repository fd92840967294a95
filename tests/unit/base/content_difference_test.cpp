#include "base/content_difference.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace reprise::test::content_difference_test {

using detail::ContentDifference;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <class T>
std::optional<ContentDifference> difference(const std::vector<T>& a, const std::vector<T>& b,
                                            ContentType type,
                                            const Tolerance& tolerance = {}) {
  return detail::first_difference(std::as_bytes(std::span(a)), std::as_bytes(std::span(b)), type,
                                  tolerance);
}

TEST_CASE("content difference: the first index, the count and the largest distance") {
  const std::vector<float> a{1, 2, 3, 4, 5};
  CHECK_FALSE(difference(a, a, ContentType::F32));
  CHECK_FALSE(difference<float>({}, {}, ContentType::F32));
  CHECK(difference(a, {1, 2.5f, 3, 1, 5}, ContentType::F32) == ContentDifference{1, 2, 3.0});
  CHECK(difference<std::uint8_t>({1, 200, 3}, {1, 100, 4}, ContentType::Bytes) ==
        ContentDifference{1, 2, 100});
  // Bytes behind the last whole value are not compared.
  CHECK_FALSE(difference<std::uint8_t>({1, 2, 3}, {1, 2, 4}, ContentType::I16));
}

TEST_CASE("content difference: differences of integers are exact") {
  using Signed = std::numeric_limits<std::int64_t>;
  CHECK(difference<std::int64_t>({Signed::max()}, {Signed::max() - 1}, ContentType::I64) ==
        ContentDifference{0, 1, 1});
  CHECK(difference<std::int64_t>({Signed::min()}, {Signed::max()}, ContentType::I64) ==
        ContentDifference{0, 1, 0x1p64});
  CHECK(difference<std::uint64_t>({0}, {~std::uint64_t{0}}, ContentType::U64) ==
        ContentDifference{0, 1, 0x1p64});
  CHECK(difference<std::int8_t>({-128, 3}, {127, 3}, ContentType::I8) ==
        ContentDifference{0, 1, 255});
  CHECK(difference<std::int16_t>({-1}, {1}, ContentType::I16) == ContentDifference{0, 1, 2});
  CHECK(difference<std::uint16_t>({1}, {0}, ContentType::U16) == ContentDifference{0, 1, 1});
  CHECK(difference<std::int32_t>({-5}, {5}, ContentType::I32) == ContentDifference{0, 1, 10});
  CHECK_FALSE(difference<std::int32_t>({-5}, {5}, ContentType::I32, {.absolute = 10}));
  CHECK_FALSE(difference<std::uint32_t>({100}, {99}, ContentType::U32, {.relative = 0.01}));
  CHECK(difference<std::uint32_t>({100}, {99}, ContentType::U32, {.ulps = 5}));
}

TEST_CASE("content difference: NaN equals NaN alone, and an infinity only itself") {
  using Limits = std::numeric_limits<double>;
  const Tolerance all{.absolute = kInfinity, .relative = 1, .ulps = ~std::uint64_t{0}};
  CHECK_FALSE(
      difference<double>({Limits::quiet_NaN()}, {-Limits::signaling_NaN()}, ContentType::F64));
  CHECK(difference<double>({0, Limits::quiet_NaN()}, {0, 1}, ContentType::F64, all) ==
        ContentDifference{1, 1, kInfinity});
  CHECK(difference<double>({kInfinity}, {Limits::quiet_NaN()}, ContentType::F64, all));
  CHECK(difference<double>({kInfinity}, {Limits::max()}, ContentType::F64, all));
  CHECK(difference<double>({kInfinity}, {-kInfinity}, ContentType::F64, all));
  CHECK_FALSE(difference<double>({kInfinity}, {kInfinity}, ContentType::F64));
  CHECK_FALSE(difference<std::uint16_t>({0x7c01}, {0xfe00}, ContentType::F16));
  CHECK(difference<std::uint16_t>({0x7c00}, {0x7bff}, ContentType::F16, all));
}

template <class T>
void check_ulps(ContentType type, T sign, T one) {
  CAPTURE(to_string(type));
  const auto differ = [type](T a, T b, std::uint64_t ulps) {
    return difference<T>({a}, {b}, type, {.ulps = ulps}).has_value();
  };
  const auto next = [](T bits, int by) { return static_cast<T>(bits + by); };
  CHECK_FALSE(differ(0, sign, 0));  // 0 and -0
  CHECK(differ(one, next(one, 1), 0));
  CHECK_FALSE(differ(one, next(one, 1), 1));
  CHECK_FALSE(differ(next(one, -1), one, 1));  // across a power of two
  CHECK(differ(one, next(one, 3), 2));
  CHECK(differ(2, next(sign, 1), 2));  // subnormal values around 0
  CHECK_FALSE(differ(2, next(sign, 1), 3));
  CHECK(differ(one, static_cast<T>(sign | one), 2));
}

TEST_CASE("content difference: units in the last place of every float type") {
  check_ulps<std::uint16_t>(ContentType::F16, 0x8000, 0x3c00);
  check_ulps<std::uint16_t>(ContentType::BF16, 0x8000, 0x3f80);
  check_ulps<std::uint32_t>(ContentType::F32, 0x80000000u, 0x3f800000u);
  check_ulps<std::uint64_t>(ContentType::F64, std::uint64_t{1} << 63, 0x3ff0000000000000u);
}

TEST_CASE("content difference: any of the tolerances suffices") {
  const std::vector<float> a{1000}, b{1001};
  CHECK(difference(a, b, ContentType::F32, {.absolute = 0.5, .relative = 1e-4, .ulps = 10}));
  CHECK_FALSE(difference(a, b, ContentType::F32, {.absolute = 1}));
  CHECK_FALSE(difference(a, b, ContentType::F32, {.relative = 1e-3}));
  CHECK_FALSE(difference(a, b, ContentType::F32, {.ulps = 20000}));
}

}  // namespace reprise::test::content_difference_test
