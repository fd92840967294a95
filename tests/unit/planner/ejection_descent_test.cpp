#include "planner/ejection_descent.hpp"

#include <doctest/doctest.h>

#include <numeric>

#include "planner/greedy_pack.hpp"
#include "planner/lifetime_cliques.hpp"
#include "planner/portfolio_search.hpp"
#include "support/lifetime_shapes.hpp"

namespace {

using namespace reprise;
using namespace reprise::detail;
using namespace reprise::test;

constexpr std::uint64_t kCapacity = std::uint64_t{1} << 20;

PackProblem problem_of(const std::vector<BufferLifetime>& buffers) {
  std::vector<PackItem> items;
  for (const BufferLifetime& buffer : buffers) items.push_back({buffer.size, buffer.alignment});
  std::vector<std::uint32_t> all(buffers.size());
  std::iota(all.begin(), all.end(), 0u);
  return interval_problem(find_cliques(buffers), items, all);
}

bool is_right(const PackProblem& problem, const Packing& packing) {
  for (std::uint32_t item = 0; item < problem.size(); ++item) {
    const std::uint64_t end = packing.offsets[item] + problem.items[item].bytes;
    if (end > packing.height) return false;
    for (const std::uint32_t other : problem.conflicts_of(item)) {
      if (packing.offsets[other] < end &&
          packing.offsets[item] < packing.offsets[other] + problem.items[other].bytes)
        return false;
    }
  }
  return true;
}

PackProblem two_of_24() { return problem_of({{0, 2, 24}, {1, 3, 24}}); }

}  // namespace

TEST_CASE(
    "ejection descent: heights are multiples of what all sizes have in common, never below the "
    "target") {
  const PackProblem problem = problem_of({{0, 2, 24}, {1, 3, 36, 6}, {2, 4, 60}});
  DescentHeights heights(problem, {.target = 62, .stride = 0.5, .target_every = 100});
  for (std::uint64_t best = 600; best > 66; best = heights.next(best)) {
    const std::uint64_t next = heights.next(best);
    CHECK(next % 6 == 0);
    CHECK(next < best);
    CHECK(next >= 66);
  }
  CHECK(heights.next(66) == 66);
}

TEST_CASE(
    "ejection descent: what is missed makes the next step shorter, and now and then the target is "
    "asked for") {
  const PackProblem problem = two_of_24();
  DescentHeights heights(problem, {.target = 48, .stride = 0.5, .target_every = 3});
  CHECK(heights.next(48 + 2400) == 48 + 1200);
  heights.tell_missed();
  CHECK(heights.next(48 + 2400) == 48 + 1800);
  CHECK(heights.next(48 + 2400) == 48);
  heights.tell_reached();
  CHECK(heights.next(48 + 2400) < 48 + 1800);
}

TEST_CASE(
    "ejection descent: a round is over when the shortest step was missed as well, and then steps "
    "are long again") {
  const PackProblem problem = two_of_24();
  DescentHeights heights(problem, {.target = 48, .stride = 0.25, .target_every = 100});
  const std::uint64_t best = 48 + 2400, first = heights.next(best);
  for (int round = 1; round <= 3; ++round) {
    std::uint64_t last = first;
    for (heights.tell_missed(); heights.rounds() < static_cast<std::uint32_t>(round);
         heights.tell_missed()) {
      const std::uint64_t next = heights.next(best);
      CHECK(next > last);
      last = next;
    }
    CHECK(heights.next(best) == first);
  }
  heights.tell_reached();
  CHECK(heights.rounds() == 3);
}

TEST_CASE("ejection descent: a height that is wished for comes first") {
  const PackProblem problem = two_of_24();
  DescentHeights heights(problem, {.target = 48, .wish = 100});
  CHECK(heights.next(4800) == 100);
  CHECK(heights.next(100) < 100);
}

TEST_CASE(
    "ejection descent: it comes well below what orders find, and to the same packing each time") {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    CAPTURE(seed);
    const PackProblem problem =
        problem_of(cut_lifetimes({.seed = seed, .pieces = 200, .removed_percent = 10}));
    const Packing first = best_greedy(problem, kCapacity);
    const DescentDesc desc{.target = kCapacity, .looks = 500'000, .seed = 1};
    const Packing found = descend_by_ejections(problem, first, desc);
    CHECK(is_right(problem, found));
    CHECK(found.height - kCapacity < (first.height - kCapacity) * 3 / 4);
    CHECK(descend_by_ejections(problem, first, desc).offsets == found.offsets);
  }
}

TEST_CASE(
    "greedy pack: with a limit it makes the most promising packings alone, and more are never "
    "higher") {
  std::uint32_t lower = 0;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    CAPTURE(seed);
    const PackProblem problem =
        problem_of(cut_lifetimes({.seed = seed, .pieces = 100, .removed_percent = 10}));
    const Packing one = best_greedy(problem, kCapacity, 1), all = best_greedy(problem, kCapacity);
    CHECK(one.offsets ==
          GreedyPacker(problem).pack(pack_order(problem, kByConflicts), GapRule::Lowest).offsets);
    CHECK(all.height <= one.height);
    lower += all.height < one.height ? 1 : 0;
    CHECK(best_greedy(problem, one.height).offsets == one.offsets);
  }
  CHECK(lower > 0);
}

TEST_CASE("ejection descent: at its target, or without looks, a packing stays what it is") {
  const PackProblem problem = two_of_24();
  const Packing high{{0, 100}, 124};
  CHECK(descend_by_ejections(problem, high, {.target = 48, .looks = 0}).offsets == high.offsets);
  CHECK(descend_by_ejections(problem, high, {.target = 124, .looks = 1000}).offsets ==
        high.offsets);
  CHECK(descend_by_ejections(problem, high, {.target = 48, .looks = 10'000}).height == 48);
}

TEST_CASE("joint search: it gets to a height that there is a packing of, and ends when told to") {
  const PackProblem problem =
      problem_of(cut_lifetimes({.seed = 3, .pieces = 200, .removed_percent = 25}));
  PackImprover improver(problem, best_greedy(problem, kCapacity), kCapacity);
  REQUIRE(improver.best().height > kCapacity);
  PortfolioSearch search(problem, improver, kCapacity);
  const std::uint64_t before = improver.best().height;
  search.attempt([] { return true; });
  CHECK(improver.best().height <= before);
  while (!improver.is_done()) search.attempt([] { return false; });
  CHECK(improver.best().height == kCapacity);
  CHECK(is_right(problem, improver.best()));
}
