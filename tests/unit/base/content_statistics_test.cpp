#include "base/content_statistics.hpp"

#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "base/split_mix.hpp"

namespace reprise::test::content_statistics_test {

using detail::ContentRows;
using detail::PartialStatistics;
using detail::statistics_of;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <class T>
ContentStatistics statistics(const std::vector<T>& values, ContentType type) {
  return statistics_of(std::as_bytes(std::span(values)), {.width = values.size() * sizeof(T)},
                       type);
}

// The value of a float with this many stored bits of the fraction, by its definition.
double float_value(std::uint64_t bits, int width, int fraction_bits) {
  const int exponents = 1 << (width - 1 - fraction_bits), bias = exponents / 2 - 1,
            exponent = static_cast<int>(bits >> fraction_bits) & (exponents - 1);
  const auto fraction = static_cast<double>(bits & ((std::uint64_t{1} << fraction_bits) - 1));
  const double sign = (bits >> (width - 1)) != 0 ? -1 : 1;
  if (exponent == exponents - 1) return fraction != 0 ? std::nan("") : sign * kInfinity;
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias - fraction_bits);
  return sign *
         std::ldexp(fraction + std::ldexp(1.0, fraction_bits), exponent - bias - fraction_bits);
}

TEST_CASE("content statistics: every 16-bit float is read by its definition and counted once") {
  std::vector<std::uint16_t> all(65536);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::uint16_t>(i);
  for (const auto& [type, fraction_bits, max] :
       {std::tuple{ContentType::F16, 10, 65504.0}, {ContentType::BF16, 7, 0x1.fep127}}) {
    CAPTURE(to_string(type));
    std::array<std::uint32_t, 64> histogram{};
    std::uint64_t wrong = 0;
    for (const std::uint16_t bits : all) {
      const double expected = float_value(bits, 16, fraction_bits),
                   found = detail::value_at(reinterpret_cast<const std::byte*>(&bits), type);
      wrong += std::isnan(expected)
                   ? !std::isnan(found)
                   : std::bit_cast<std::uint64_t>(expected) != std::bit_cast<std::uint64_t>(found);
      if (!std::isfinite(expected) || expected == 0) continue;
      const int power = std::clamp(std::ilogb(expected) + 16, 0, 31);
      ++histogram[static_cast<std::size_t>(expected > 0 ? 32 + power : 31 - power)];
    }
    CHECK(wrong == 0);
    const ContentStatistics found = statistics(all, type);
    const std::uint64_t fractions = (std::uint64_t{1} << fraction_bits) - 1;
    CHECK(found.count == 65536);
    CHECK(found.zeros == 2);
    CHECK(found.denormals == 2 * fractions);
    CHECK(found.infinities == 2);
    CHECK(found.nans == 2 * fractions);
    CHECK(found.first_infinity == 0x8000 - ((std::uint64_t{1} << fraction_bits)));
    CHECK(found.first_nan == found.first_infinity + 1);
    CHECK(found.min == -max);
    CHECK(found.max == max);
    CHECK(found.histogram == histogram);
  }
}

template <class T>
void check_special_floats(ContentType type) {
  using Limits = std::numeric_limits<T>;
  const T tiny = Limits::denorm_min();
  const std::vector<T> values{0,
                              -T{0},
                              tiny,
                              -tiny,
                              Limits::min(),
                              3,
                              -Limits::infinity(),
                              -4,
                              Limits::quiet_NaN(),
                              Limits::infinity(),
                              -Limits::quiet_NaN()};
  const ContentStatistics found = statistics(values, type);
  CHECK(found.count == 11);
  CHECK(found.zeros == 2);
  CHECK(found.denormals == 2);
  CHECK(found.infinities == 2);
  CHECK(found.nans == 2);
  CHECK(found.first_infinity == 6);
  CHECK(found.first_nan == 8);
  CHECK(found.min == -4);
  CHECK(found.max == 3);
  CHECK(found.mean == doctest::Approx(-1.0 / 7));
  CHECK(found.norm == 5);
  CHECK(found.histogram[31] == 1);       // -denormal
  CHECK(found.histogram[31 - 18] == 1);  // -4
  CHECK(found.histogram[32] == 2);       // denormal and the smallest normal value
  CHECK(found.histogram[32 + 17] == 1);  // 3
}

TEST_CASE("content statistics: special values of f32 and f64 count in one class each") {
  check_special_floats<float>(ContentType::F32);
  check_special_floats<double>(ContentType::F64);
}

template <class T>
void check_integers(ContentType type) {
  using Limits = std::numeric_limits<T>;
  CAPTURE(to_string(type));
  const ContentStatistics found =
      statistics(std::vector<T>{0, Limits::max(), 0, 2, Limits::min()}, type);
  CHECK(bytes_of(type) == sizeof(T));
  CHECK(found.count == 5);
  CHECK(found.zeros == (Limits::is_signed ? 2 : 3));
  CHECK(found.denormals + found.infinities + found.nans == 0);
  CHECK(found.first_nan == ContentStatistics::kNone);
  CHECK(found.min == static_cast<double>(Limits::min()));
  CHECK(found.max == static_cast<double>(Limits::max()));
  CHECK(found.histogram[32 + 17] == 1);
}

TEST_CASE("content statistics: integers are finite values") {
  check_integers<std::uint8_t>(ContentType::Bytes);
  check_integers<std::int8_t>(ContentType::I8);
  check_integers<std::uint8_t>(ContentType::U8);
  check_integers<std::int16_t>(ContentType::I16);
  check_integers<std::uint16_t>(ContentType::U16);
  check_integers<std::int32_t>(ContentType::I32);
  check_integers<std::uint32_t>(ContentType::U32);
  check_integers<std::int64_t>(ContentType::I64);
  check_integers<std::uint64_t>(ContentType::U64);
  CHECK(to_string(ContentType::Bytes) == "bytes");
  CHECK(to_string(ContentType::BF16) == "bf16");
}

TEST_CASE("content statistics: nothing between rows and behind the last whole value is read") {
  // 2 slices of 2 rows of 2 values and one byte.
  std::vector<std::uint16_t> values(16, 999);
  const std::vector<std::uint16_t> inside{1, 2, 3, 4, 5, 6, 7, 8};
  for (const std::size_t slice : {0u, 1u})
    for (const std::size_t row : {0u, 1u})
      for (const std::size_t i : {0u, 1u})
        values[slice * 8 + row * 3 + i] = inside[slice * 4 + row * 2 + i];
  const ContentRows rows{.width = 5, .height = 2, .depth = 2, .row_pitch = 6, .slice_pitch = 16};
  CHECK(statistics_of(std::as_bytes(std::span(values)), rows, ContentType::U16) ==
        statistics(inside, ContentType::U16));
  // Rows shorter than a value have none.
  const ContentStatistics none =
      statistics_of(std::as_bytes(std::span(values)), {.width = 3, .height = 4, .row_pitch = 3},
                    ContentType::F32);
  CHECK(none == ContentStatistics{});
}

TEST_CASE("content statistics: the hash depends on each value and its index") {
  detail::SplitMix64 random(7);
  std::vector<std::uint32_t> values(100);
  for (auto& value : values) value = static_cast<std::uint32_t>(random.next());
  const std::uint64_t hash = statistics(values, ContentType::U32).hash;
  CHECK(statistics(values, ContentType::F32).hash == hash);
  std::swap(values[3], values[70]);
  CHECK(statistics(values, ContentType::U32).hash != hash);
  std::swap(values[3], values[70]);
  CHECK(statistics(values, ContentType::U32).hash == hash);
  values[99] ^= 1u << 31;
  CHECK(statistics(values, ContentType::U32).hash != hash);
  CHECK(statistics(std::vector<float>{0.0f}, ContentType::F32).hash !=
        statistics(std::vector<float>{-0.0f}, ContentType::F32).hash);
}

TEST_CASE("content statistics: parts add up, bins saturate and empty parts change nothing") {
  PartialStatistics part{};
  part.count = 3;
  part.finite = 2;
  part.nans = 1;
  part.sum = 7;
  part.sum_of_squares = 25;
  part.min = 3;
  part.max = 4;
  part.first_nan = 5;
  part.first_infinity = ContentStatistics::kNone;
  part.hash = ~std::uint64_t{0};
  part.histogram[49] = 0xffffffff;
  PartialStatistics empty{};
  empty.min = kInfinity;
  empty.max = -kInfinity;
  empty.first_nan = empty.first_infinity = ContentStatistics::kNone;
  PartialStatistics other = part;
  other.min = -1;
  other.first_nan = 9;
  other.hash = 3;
  const std::array parts{part, empty, other, empty};
  const ContentStatistics found = detail::combine(parts);
  CHECK(found.count == 6);
  CHECK(found.nans == 2);
  CHECK(found.first_nan == 5);
  CHECK(found.first_infinity == ContentStatistics::kNone);
  CHECK(found.min == -1);
  CHECK(found.max == 4);
  CHECK(found.mean == 3.5);
  CHECK(found.norm == doctest::Approx(std::sqrt(50.0)));
  CHECK(found.hash == 2);
  CHECK(found.histogram[49] == 0xffffffff);
  CHECK(detail::combine({}) == ContentStatistics{});
}

}  // namespace reprise::test::content_statistics_test
