#include <doctest/doctest.h>

#include <cmath>
#include <random>

#include "panels/timeline/timeline_merge.hpp"
#include "panels/widgets/axis.hpp"

using namespace reprise::viewer;

namespace {

// Consecutive items of random lengths, some adjacent.
std::vector<TimelineExtent> random_items(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<TimelineExtent> items;
  double at = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double length = std::round(std::pow(10.0, static_cast<double>(random() % 50) / 10)),
                 gap = random() % 3 == 0
                           ? std::round(std::pow(10.0, static_cast<double>(random() % 50) / 10))
                           : 0;
    items.push_back({at + gap, at + gap + length});
    at += gap + length;
  }
  return items;
}

}  // namespace

TEST_CASE("timeline merge: every item is in exactly one block and counts add up") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const std::vector<TimelineExtent> items = random_items(500, seed);
    for (const double unit : {0.1, 10.0, 1000.0, 1e5, 1e7}) {
      CAPTURE(seed);
      CAPTURE(unit);
      const auto blocks =
          merged_blocks(0, items.size(), unit, [&](std::size_t i) { return items[i]; });
      std::size_t at = 0, count = 0;
      double end = -1e300;
      for (const TimelineBlock& block : blocks) {
        CHECK(block.first == at);
        CHECK(block.started == items[block.first].started);
        CHECK(block.ended == items[block.end - 1].ended);
        CHECK(block.started >= end);
        end = block.ended;
        at = block.end;
        count += block.count();
        // Wide items are never merged.
        for (std::size_t i = block.first; i < block.end && block.count() > 1; ++i)
          CHECK(items[i].ended - items[i].started < kNarrow * unit);
      }
      CHECK(at == items.size());
      CHECK(count == items.size());
      // Narrow items that are close together are in one block.
      for (std::size_t i = 1; i < blocks.size(); ++i) {
        const auto is_narrow = [&](std::size_t item) {
          return items[item].ended - items[item].started < kNarrow * unit;
        };
        if (is_narrow(blocks[i].first - 1) && is_narrow(blocks[i].first))
          CHECK(blocks[i].started - blocks[i - 1].ended >= kNarrow * unit);
      }
    }
  }
}

TEST_CASE("timeline merge: a million narrow items need fewer than 200 reads") {
  std::size_t reads = 0;
  const auto blocks = merged_blocks(0, 1'000'000, 1e9, [&](std::size_t i) {
    ++reads;
    return TimelineExtent{static_cast<double>(i), static_cast<double>(i) + 0.5};
  });
  REQUIRE(blocks.size() == 1);
  CHECK(blocks[0].count() == 1'000'000);
  CHECK(reads < 200);
}

TEST_CASE("timeline axis: ticks are round, fit the axis and have a unit") {
  for (const double span : {1.0, 37.0, 999.0, 12'345.0, 7.7e6, 3.2e9}) {
    CAPTURE(span);
    const double step = round_step(0, span, 10);
    const auto ticks = round_ticks(0, span, step);
    CHECK(ticks.size() >= 4);
    CHECK(ticks.size() <= 11);
  }
  CHECK(round_step(0, 5, 10, 1) == 1);
  CHECK(tick_text(0, 1000, 5e6) == "0");
  CHECK(tick_text(250'000, 50'000, 3e6) == "0.25 ms");
  CHECK(tick_text(-1500, 500, 9000) == "-1.5 us");
  CHECK(tick_text(20'000'000, 5'000'000, 45e6) == "20 ms");
  CHECK(round_ticks(0, 1, 0).empty());
}
