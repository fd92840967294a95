#include "record/geometry.hpp"

#include <doctest/doctest.h>

#include <random>
#include <set>

using namespace reprise;
using namespace reprise::detail;

namespace {

std::set<std::uint64_t> bytes_of(const Rows& rows) {
  std::set<std::uint64_t> bytes;
  for (std::uint64_t z = 0; z < rows.extent.depth; ++z) {
    for (std::uint64_t y = 0; y < rows.extent.height; ++y) {
      for (std::uint64_t x = 0; x < rows.extent.width; ++x) {
        bytes.insert(rows.begin + z * rows.pitch.slice + y * rows.pitch.row + x);
      }
    }
  }
  return bytes;
}

bool share_a_byte(const std::set<std::uint64_t>& a, const std::set<std::uint64_t>& b) {
  for (const std::uint64_t byte : a) {
    if (b.count(byte) != 0) return true;
  }
  return false;
}

class Random {
 public:
  explicit Random(std::uint32_t seed) : engine_(seed) {}
  std::uint64_t below(std::uint64_t n) { return engine_() % n; }
  // Rows in normal form, small enough for byte sets.
  Rows random_rows() {
    Rows rows;
    rows.begin = below(60);
    rows.extent = {1 + below(6), 1 + below(4), 1 + below(3)};
    rows.pitch.row = rows.extent.width + below(8);
    rows.pitch.slice = rows.pitch.row * (rows.extent.height + below(3));
    REQUIRE(normalise(rows.extent, rows.pitch) == PitchFault::None);
    return rows;
  }

 private:
  std::mt19937 engine_;
};

void describe(const Rows& r) {
  MESSAGE("begin ", r.begin, " extent ", r.extent.width, "x", r.extent.height, "x", r.extent.depth,
          " pitch ", r.pitch.row, "/", r.pitch.slice);
}

Pitch normal(const Extent& extent, Pitch pitch) {
  CHECK(normalise(extent, pitch) == PitchFault::None);
  return pitch;
}

PitchFault fault(const Extent& extent, Pitch pitch) { return normalise(extent, pitch); }

}  // namespace

TEST_CASE("geometry: zero pitches become tight") {
  const Pitch p = normal({10, 3, 2}, {});
  CHECK(p.row == 10);
  CHECK(p.slice == 30);
  CHECK(is_dense({10, 3, 2}, p));
  CHECK(span_bytes({10, 3, 2}, p) == 60);
}

TEST_CASE("geometry: pitches that no row uses are ignored") {
  CHECK(is_dense({10, 1, 1}, normal({10, 1, 1}, {64, 4096})));
  CHECK(normal({10, 3, 1}, {16, 1000}).slice == 48);
  const Pitch strided = normal({10, 1, 4}, {16, 50});
  CHECK(strided.slice == 50);
  CHECK(strided.row == 50);
  CHECK_FALSE(is_dense({10, 1, 4}, strided));
}

TEST_CASE("geometry: a span ends with the last row, not with its pitch") {
  CHECK(span_bytes({10, 3, 2}, normal({10, 3, 2}, {16, 64})) == 64 + 2 * 16 + 10);
}

TEST_CASE("geometry: each kind of invalid pitch has its own fault") {
  CHECK(fault({10, 3, 1}, {9, 0}) == PitchFault::RowBelowWidth);
  CHECK(fault({10, 3, 2}, {16, 47}) == PitchFault::SliceBelowRows);
  CHECK(fault({10, 3, 2}, {16, 50}) == PitchFault::SliceNoMultipleOfRow);
  CHECK(fault({10, 1, 2}, {0, 9}) == PitchFault::SliceBelowRows);
  CHECK(fault({1, std::uint64_t{1} << 40, 2}, {std::uint64_t{1} << 30, 0}) == PitchFault::TooLarge);
}

TEST_CASE("geometry: a span of more than 64 bits has no value") {
  const Extent extent{1, 2, std::uint64_t{1} << 33};
  CHECK_FALSE(span_bytes(extent, normal(extent, {std::uint64_t{1} << 31, 0})).has_value());
}

TEST_CASE("geometry: intersection of rows and a range agrees with byte sets") {
  const std::uint32_t seed = std::random_device{}();
  CAPTURE(seed);
  Random random(seed);
  for (int iteration = 0; iteration < 4000; ++iteration) {
    const Rows rows = random.random_rows();
    const std::uint64_t begin = random.below(150);
    const std::uint64_t end = begin + random.below(12);
    std::set<std::uint64_t> range;
    for (std::uint64_t b = begin; b < end; ++b) range.insert(b);
    const bool expected = share_a_byte(bytes_of(rows), range);
    if (intersects(rows, begin, end) != expected) describe(rows);
    CAPTURE(begin);
    CAPTURE(end);
    REQUIRE(intersects(rows, begin, end) == expected);
  }
}

TEST_CASE(
    "geometry: intersection of rows agrees with byte sets for equal and for unequal pitches") {
  const std::uint32_t seed = std::random_device{}();
  CAPTURE(seed);
  Random random(seed);
  int hits = 0, equal = 0;
  for (int iteration = 0; iteration < 4000; ++iteration) {
    const Rows a = random.random_rows();
    Rows b = random.random_rows();
    if (iteration % 2 == 0) {
      b.pitch = a.pitch;
      b.extent = {1 + random.below(a.pitch.row), 1 + random.below(a.pitch.slice / a.pitch.row),
                  1 + random.below(3)};
      REQUIRE(normalise(b.extent, b.pitch) == PitchFault::None);
      equal += equal_pitches(a, b) ? 1 : 0;
    }
    const bool expected = share_a_byte(bytes_of(a), bytes_of(b));
    if (intersects(a, b) != expected) {
      describe(a);
      describe(b);
    }
    REQUIRE(intersects(a, b) == expected);
    REQUIRE(intersects(b, a) == expected);
    hits += expected ? 1 : 0;
  }
  CHECK(hits > 100);
  CHECK(equal > 500);
}
