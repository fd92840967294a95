#include "dependencies/segment_table.hpp"

#include <doctest/doctest.h>

#include <map>
#include <set>

#include "support/random_recording.hpp"
#include "support/recording_builder.hpp"

using namespace reprise;
using namespace reprise::detail;
using namespace reprise::test;

TEST_CASE("slot set: neighbour queries agree with an ordered set") {
  for (const std::uint32_t limit : {1u, 63u, 64u, 65u, 5000u, 300000u}) {
    CAPTURE(limit);
    Random random(limit);
    SlotSet slots(limit);
    std::set<std::uint32_t> model;
    for (int step = 0; step < 2000; ++step) {
      const std::uint32_t slot = random.below(limit);
      if (random.below(3) == 0) {
        slots.erase(slot);
        model.erase(slot);
      } else {
        slots.insert(slot);
        model.insert(slot);
      }
      const std::uint32_t query = random.below(std::uint64_t{limit} + 1);
      const auto after = model.lower_bound(query);
      REQUIRE(slots.at_or_after(query) == (after == model.end() ? kNone : *after));
      const auto above = model.upper_bound(query);
      REQUIRE(slots.at_or_before(query) == (above == model.begin() ? kNone : *std::prev(above)));
    }
  }
}

TEST_CASE("slot set: an empty set has no neighbours") {
  const SlotSet slots(100);
  CHECK(slots.at_or_after(0) == kNone);
  CHECK(slots.at_or_before(100) == kNone);
}

TEST_CASE(
    "segment table: cut splits only a segment that contains the slot, and both parts keep the "
    "value") {
  SegmentTable<int> table({.shift = 2, .count = 101});
  CHECK(table.slot_of(40) == 10);
  CHECK(table.slot_of(43) == 10);
  CHECK(table.slot_of(4000) == 100);
  CHECK(table.byte_of(10) == 40);
  table.insert(10, 20, 7);
  table.cut(5);
  table.cut(10);
  table.cut(20);
  table.cut(25);
  CHECK(table.at_or_after(11) == kNone);
  table.cut(15);
  CHECK(table.at_or_after(11) == 15);
  CHECK(table[10].end == 15);
  CHECK(table[15].end == 20);
  CHECK(table[15].value == 7);
  table.erase(10);
  CHECK(table.at_or_before(14) == kNone);
}

TEST_CASE(
    "segment keys: few multiples of a power of two are used directly, otherwise the bounds are "
    "listed") {
  RecordingBuilder build;
  const std::uint32_t even = build.add_buffer("even", 1 << 20),
                      odd = build.add_buffer("odd", std::uint64_t{1} << 40);
  build.fill(RecordingBuilder::range(Access::Write, even, 4096, 8192));
  build.fill(RecordingBuilder::range(Access::Write, odd, 3, 1'000'000'007));
  build.fill(RecordingBuilder::range(Access::Write, even, 0, 1 << 20));
  build.fill(RecordingBuilder::range(Access::Write, odd, 1'000'000'007, 1'000'000'011));
  const RecordingPtr recording = build.finish();
  BufferSegmentKeys keys(recording->accesses, recording->buffers.size());
  const SegmentKeys of_even = keys.of(even), of_odd = keys.of(odd);
  CHECK(of_even.listed.empty());
  CHECK(of_even.shift == 12);
  CHECK(of_even.count == 257);
  CHECK(of_odd.listed == std::vector<std::uint64_t>{3, 1'000'000'007, 1'000'000'011});
  CHECK(of_odd.slot_of(1'000'000'007) == 1);
  CHECK(of_odd.slot_of(1'000'000'010) == 1);
  CHECK(of_odd.slot_of(0) == 0);
}

TEST_CASE("segment table: is_segment and is_free identify whole segments and free ranges") {
  SegmentTable<int> table({.shift = 0, .count = 101});
  table.insert(10, 20, 7);
  table.insert(20, 30, 8);
  CHECK(table.is_segment(10, 20));
  CHECK_FALSE(table.is_segment(10, 30));
  CHECK_FALSE(table.is_segment(10, 15));
  CHECK_FALSE(table.is_segment(15, 20));
  CHECK_FALSE(table.is_segment(30, 40));
  CHECK(table.is_free(0, 10));
  CHECK(table.is_free(30, 100));
  CHECK_FALSE(table.is_free(0, 11));
  CHECK_FALSE(table.is_free(12, 14));
  CHECK_FALSE(table.is_free(29, 40));
  CHECK_FALSE(table.is_free(5, 50));
  table.erase(10);
  CHECK(table.is_free(10, 20));
  CHECK_FALSE(table.is_segment(10, 20));
}
