#include <cmath>
#include <cstring>
#include <span>

#include "base/split_mix.hpp"
#include "conformance/device_fixture.hpp"
#include "inspect/statistics.hpp"

namespace reprise::test::content_statistics_test {

using detail::ContentRows;
using detail::PartialStatistics;

// Random bits, with zeros, subnormal values, infinities and NaNs of every float type. Doubles have
// the exponents of floats, so that their squares do not overflow.
std::vector<unsigned char> random_values(ContentType type, std::uint64_t bytes,
                                         detail::SplitMix64& random) {
  std::vector<unsigned char> made(bytes);
  const std::uint32_t size = bytes_of(type);
  for (std::uint64_t at = 0; at < bytes; at += size) {
    std::uint64_t bits = random.next();
    const std::uint64_t kind = random.next() % 8;
    if (kind == 0) bits = 0;
    if (kind == 1) bits &= 0x800000000000007fu;
    if (kind == 1 && size < 8) bits &= 0x7f;
    if (kind > 2 && type == ContentType::F64) {
      float value;
      std::memcpy(&value, &bits, sizeof value);
      const double wide = value;
      std::memcpy(&bits, &wide, sizeof bits);
    } else if (kind == 2 && type == ContentType::F64) {
      bits |= 0x7ff0000000000000u;
      if (random.next() % 2 == 0) bits &= 0xfff0000000000000u;
    }
    std::memcpy(made.data() + at, &bits, std::min<std::uint64_t>(size, bytes - at));
  }
  return made;
}

void check_statistics(const ContentStatistics& found, ContentStatistics expected) {
  // Both are sums of the same values in different orders.
  const double digits = 1e-12 * expected.norm;
  CHECK(std::abs(found.mean - expected.mean) <= digits);
  CHECK(std::abs(found.norm - expected.norm) <= digits);
  expected.mean = found.mean;
  expected.norm = found.norm;
  CHECK(found == expected);
}

struct Range {
  ContentType type;
  ContentRows rows;
  std::vector<unsigned char> bytes;
  GpuRef<unsigned char> data;
  GpuRef<PartialStatistics> partials;
};

TEST_CASE_FIXTURE(DeviceFixture,
                  "content statistics: the kernel agrees with plain C++ for every type and shape") {
  detail::SplitMix64 random(20260601);
  std::vector<Range> ranges;
  const auto add = [&](ContentType type, const ContentRows& rows) {
    const std::uint64_t bytes =
        (rows.depth - 1) * rows.slice_pitch + (rows.height - 1) * rows.row_pitch + rows.width;
    Range range{type, rows, random_values(type, bytes, random), {}, {}};
    range.data = buffer(range.bytes);
    range.partials =
        pool->allocate<PartialStatistics>(detail::statistics_dispatch(rows, type).grid.x);
    ranges.push_back(std::move(range));
  };
  for (unsigned i = 0; i <= static_cast<unsigned>(ContentType::F64); ++i) {
    const auto type = static_cast<ContentType>(i);
    const std::uint64_t size = bytes_of(type);
    for (const std::uint64_t count : {1, 255, 256, 257, 100003}) add(type, {.width = count * size});
    add(type, {.width = 3 * size, .height = 7, .row_pitch = 5 * size});
    add(type, {.width = size,
               .height = 300,
               .depth = 3,
               .row_pitch = 2 * size,
               .slice_pitch = 601 * size});
    // The last bytes of each row are no value.
    add(type, {.width = 6 * size - 1,
               .height = 4,
               .depth = 2,
               .row_pitch = 6 * size,
               .slice_pitch = 24 * size});
    add(type, {.width = size - 1 + (size == 1), .height = 2, .row_pitch = size});
  }
  add(ContentType::U8, {.width = 5'000'003});  // the last blocks have no values

  const Kernel statistics = kernel(detail::statistics_kernel());
  run([&](CommandBuffer& cmd) {
    for (const auto& [type, rows, bytes, data, partials] : ranges)
      cmd.dispatch(statistics, detail::statistics_dispatch(rows, type), read(data), write(partials),
                   rows.width, rows.height, rows.depth, rows.row_pitch, rows.slice_pitch,
                   static_cast<std::uint32_t>(type));
  });
  for (const auto& [type, rows, bytes, data, partials] : ranges) {
    CAPTURE(to_string(type));
    CAPTURE(rows.width);
    CAPTURE(rows.height);
    const ContentStatistics found = detail::combine(values(partials));
    const auto of = std::as_bytes(std::span(bytes));
    check_statistics(found, detail::statistics_of(of, rows, type));
    check_statistics(found, detail::statistics_of(of, detail::dense(rows, type), type));
  }
}

}  // namespace reprise::test::content_statistics_test
