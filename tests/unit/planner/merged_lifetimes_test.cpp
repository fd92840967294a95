#include "planner/merged_lifetimes.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "support/lifetime_shapes.hpp"

using namespace reprise;
using namespace reprise::detail;

namespace {

using Offsets = std::vector<std::uint64_t>;

bool is_block(const BufferLifetime& block, const BufferLifetime& expected) {
  return block.lower == expected.lower && block.upper == expected.upper &&
         block.size == expected.size && block.alignment == expected.alignment;
}

}  // namespace

TEST_CASE(
    "merged lifetimes: buffers of one lifetime are stacked and aligned if their total size equals "
    "that "
    "of the next buffer") {
  const std::vector<BufferLifetime> buffers = {
      {0, 4, 100, 64}, {0, 4, 1, 64}, {0, 4, 30, 64}, {0, 4, 7, 1}, {4, 9, 158, 64}};
  const MergedLifetimes merged(buffers);
  REQUIRE(merged.blocks().size() == 3);
  const Offsets offsets = merged.offsets_of_buffers(Offsets{0, 0, 0});
  CHECK(offsets == Offsets{0, 0, 128, 0, 0});
  bool is_found = false;
  for (const BufferLifetime& block : merged.blocks()) is_found |= is_block(block, {0, 9, 158, 64});
  CHECK(is_found);
}

TEST_CASE(
    "merged lifetimes: other buffers of one lifetime are stacked only if sizes match elsewhere in "
    "the "
    "list") {
  std::vector<BufferLifetime> buffers = {{10, 20, 3, 1}, {10, 20, 4, 1}};
  CHECK(MergedLifetimes(buffers).blocks().size() == 2);
  buffers.push_back({0, 4, 5, 1});
  buffers.push_back({4, 8, 5, 1});
  const MergedLifetimes merged(buffers);
  REQUIRE(merged.blocks().size() == 2);
  CHECK((is_block(merged.blocks()[0], {10, 20, 7, 1}) ||
         is_block(merged.blocks()[1], {10, 20, 7, 1})));
}

TEST_CASE("merged lifetimes: consecutive buffers of one size become one block") {
  const std::vector<BufferLifetime> buffers = {
      {4, 7, 10, 1}, {0, 4, 10, 1}, {7, 9, 10, 1}, {3, 7, 11, 1}};
  const MergedLifetimes merged(buffers);
  REQUIRE(merged.blocks().size() == 2);
  CHECK(
      (is_block(merged.blocks()[0], {0, 9, 10, 1}) || is_block(merged.blocks()[1], {0, 9, 10, 1})));
  const Offsets offsets = merged.offsets_of_buffers(Offsets{100, 100});
  CHECK(offsets == Offsets{100, 100, 100, 100});
}

TEST_CASE(
    "merged lifetimes: ambiguous successors and different sizes or alignments are not merged") {
  const std::vector<BufferLifetime> several = {{0, 4, 10, 1}, {1, 4, 10, 1}, {4, 9, 10, 1}};
  CHECK(MergedLifetimes(several).blocks().size() == 3);
  const std::vector<BufferLifetime> other_alignment = {{0, 4, 10, 1}, {4, 9, 10, 2}};
  CHECK(MergedLifetimes(other_alignment).blocks().size() == 2);
  const std::vector<BufferLifetime> gap = {{0, 4, 10, 1}, {5, 9, 10, 1}};
  CHECK(MergedLifetimes(gap).blocks().size() == 2);
  CHECK(MergedLifetimes(std::vector<BufferLifetime>{}).blocks().empty());
}

TEST_CASE("merged lifetimes: a pinwheel of five buffers becomes one block, aligned") {
  // From 0 to 9, 300 bytes: 100 and 200 at the start, 180 and 120 at the end, 80 in the middle.
  const std::vector<BufferLifetime> buffers = {
      {0, 6, 100, 20}, {0, 3, 200, 20}, {3, 9, 120, 20}, {6, 9, 180, 20}, {3, 6, 80, 20}};
  const MergedLifetimes merged(buffers);
  REQUIRE(merged.blocks().size() == 1);
  CHECK(is_block(merged.blocks()[0], {0, 9, 300, 20}));
  CHECK(merged.offsets_of_buffers(Offsets{0}) == Offsets{0, 100, 180, 0, 100});
  auto other = buffers;
  other[4].size = 79;
  CHECK(MergedLifetimes(other).blocks().size() == 5);
}

TEST_CASE(
    "merged lifetimes: blocks nested deeper than the iteration limit stay separate and valid") {
  // Each buffer is above or after the block of all earlier buffers and matches only that whole
  // block.
  constexpr std::uint64_t kSteps = 3000;
  std::vector<BufferLifetime> buffers = {{0, 1, 1, 1}};
  BufferLifetime whole = buffers[0];
  for (std::uint64_t step = 0; step < kSteps; ++step) {
    if (step % 2 == 0) {
      buffers.push_back({whole.upper, whole.upper + 1, whole.size, 1});
      ++whole.upper;
    } else {
      buffers.push_back({whole.lower, whole.upper, 1, 1});
      ++whole.size;
    }
  }
  const MergedLifetimes merged(buffers);
  CHECK(merged.blocks().size() > 1);
  CHECK(merged.blocks().size() < buffers.size());
  Offsets of_blocks;
  std::uint64_t top = 0;
  for (const BufferLifetime& block : merged.blocks()) {
    of_blocks.push_back(top);
    top += block.size;
  }
  const Offsets offsets = merged.offsets_of_buffers(of_blocks);
  for (std::size_t a = 0; a < buffers.size(); a += 7) {
    for (std::size_t b = 0; b < a; ++b) {
      const bool live_at_once =
          buffers[a].lower < buffers[b].upper && buffers[b].lower < buffers[a].upper;
      if (live_at_once)
        REQUIRE((offsets[a] + buffers[a].size <= offsets[b] ||
                 offsets[b] + buffers[b].size <= offsets[a]));
    }
  }
}

TEST_CASE(
    "merged lifetimes: merging blocks repeatedly restores a rectangle that was cut into buffers") {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    CAPTURE(seed);
    const auto buffers =
        test::cut_lifetimes({.seed = seed, .pieces = 150, .unit = 1, .removed_percent = 0});
    const MergedLifetimes merged(buffers);
    REQUIRE(merged.blocks().size() == 1);
    const Offsets offsets = merged.offsets_of_buffers(Offsets{0});
    for (std::size_t a = 0; a < buffers.size(); ++a) {
      REQUIRE(offsets[a] + buffers[a].size <= merged.blocks()[0].size);
      for (std::size_t b = 0; b < a; ++b) {
        const bool live_at_once =
            buffers[a].lower < buffers[b].upper && buffers[b].lower < buffers[a].upper;
        if (live_at_once)
          REQUIRE((offsets[a] + buffers[a].size <= offsets[b] ||
                   offsets[b] + buffers[b].size <= offsets[a]));
      }
    }
  }
}
