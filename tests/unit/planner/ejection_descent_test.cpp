#include "planner/ejection_descent.hpp"

#include <doctest/doctest.h>

#include <numeric>

#include "planner/greedy_pack.hpp"
#include "planner/lifetime_cliques.hpp"
#include "planner/portfolio_search.hpp"
#include "support/lifetime_shapes.hpp"
#include "unit/planner/lifetime_problem.hpp"

namespace {

using namespace reprise;
using namespace reprise::detail;
using namespace reprise::test;

bool is_valid(const PackProblem& problem, const Packing& packing) {
  for (std::uint32_t item = 0; item < problem.size(); ++item) {
    const std::uint64_t end = packing.offsets[item] + problem.items[item].bytes;
    if (end > packing.peak_bytes) return false;
    for (const std::uint32_t other : problem.conflicts_of(item)) {
      if (packing.offsets[other] < end &&
          packing.offsets[item] < packing.offsets[other] + problem.items[other].bytes)
        return false;
    }
  }
  return true;
}

PackProblem two_items_of_24() { return problem_of({{0, 2, 24}, {1, 3, 24}}); }

}  // namespace

TEST_CASE(
    "ejection descent: capacities are multiples of the common divisor of all sizes and never below "
    "the target") {
  const PackProblem problem = problem_of({{0, 2, 24}, {1, 3, 36, 6}, {2, 4, 60}});
  CapacitySchedule capacities(problem, {.target = 62, .stride = 0.5, .target_every = 100});
  for (std::uint64_t best = 600; best > 66; best = capacities.next(best)) {
    const std::uint64_t next = capacities.next(best);
    CHECK(next % 6 == 0);
    CHECK(next < best);
    CHECK(next >= 66);
  }
  CHECK(capacities.next(66) == 66);
}

TEST_CASE(
    "ejection descent: a failure shortens the next step, and every n-th capacity is the target") {
  const PackProblem problem = two_items_of_24();
  CapacitySchedule capacities(problem, {.target = 48, .stride = 0.5, .target_every = 3});
  CHECK(capacities.next(48 + 2400) == 48 + 1200);
  capacities.report_failure();
  CHECK(capacities.next(48 + 2400) == 48 + 1800);
  CHECK(capacities.next(48 + 2400) == 48);
  capacities.report_success();
  CHECK(capacities.next(48 + 2400) < 48 + 1800);
}

TEST_CASE(
    "ejection descent: a pass ends when the shortest step fails, and the next pass starts with "
    "long "
    "steps") {
  const PackProblem problem = two_items_of_24();
  CapacitySchedule capacities(problem, {.target = 48, .stride = 0.25, .target_every = 100});
  const std::uint64_t best = 48 + 2400, first = capacities.next(best);
  for (int round = 1; round <= 3; ++round) {
    std::uint64_t last = first;
    for (capacities.report_failure(); capacities.passes() < static_cast<std::uint32_t>(round);
         capacities.report_failure()) {
      const std::uint64_t next = capacities.next(best);
      CHECK(next > last);
      last = next;
    }
    CHECK(capacities.next(best) == first);
  }
  capacities.report_success();
  CHECK(capacities.passes() == 3);
}

TEST_CASE("ejection descent: the capacity goal is tried first") {
  const PackProblem problem = two_items_of_24();
  CapacitySchedule capacities(problem, {.target = 48, .capacity_goal = 100});
  CHECK(capacities.next(4800) == 100);
  CHECK(capacities.next(100) < 100);
}

TEST_CASE(
    "ejection descent: the peak is well below that of greedy packings, and the result is "
    "deterministic") {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    CAPTURE(seed);
    const PackProblem problem =
        problem_of(cut_lifetimes({.seed = seed, .pieces = 200, .removed_percent = 10}));
    const Packing first = best_greedy(problem, kCapacity);
    const DescentDesc desc{.target = kCapacity, .step_budget = 500'000, .seed = 1};
    const Packing found = descend_by_ejections(problem, first, desc);
    CHECK(is_valid(problem, found));
    CHECK(found.peak_bytes - kCapacity < (first.peak_bytes - kCapacity) * 3 / 4);
    CHECK(descend_by_ejections(problem, first, desc).offsets == found.offsets);
  }
}

TEST_CASE(
    "greedy pack: a limit selects the most promising packings, and more packings are never worse") {
  std::uint32_t lower = 0;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    CAPTURE(seed);
    const PackProblem problem =
        problem_of(cut_lifetimes({.seed = seed, .pieces = 100, .removed_percent = 10}));
    const Packing one = best_greedy(problem, kCapacity, 1), all = best_greedy(problem, kCapacity);
    CHECK(one.offsets ==
          GreedyPacker(problem).pack(pack_order(problem, kByConflicts), FitRule::FirstFit).offsets);
    CHECK(all.peak_bytes <= one.peak_bytes);
    lower += all.peak_bytes < one.peak_bytes ? 1 : 0;
    CHECK(best_greedy(problem, one.peak_bytes).offsets == one.offsets);
  }
  CHECK(lower > 0);
}

TEST_CASE(
    "ejection descent: a packing at its target stays unchanged, as does any without a step "
    "budget") {
  const PackProblem problem = two_items_of_24();
  const Packing high{{0, 100}, 124};
  CHECK(descend_by_ejections(problem, high, {.target = 48, .step_budget = 0}).offsets ==
        high.offsets);
  CHECK(descend_by_ejections(problem, high, {.target = 124, .step_budget = 1000}).offsets ==
        high.offsets);
  CHECK(descend_by_ejections(problem, high, {.target = 48, .step_budget = 10'000}).peak_bytes ==
        48);
}

TEST_CASE("portfolio search: it reaches a feasible target, and returns when stop() is true") {
  const PackProblem problem =
      problem_of(cut_lifetimes({.seed = 3, .pieces = 200, .removed_percent = 25}));
  PackImprover improver(problem, best_greedy(problem, kCapacity), kCapacity);
  REQUIRE(improver.best().peak_bytes > kCapacity);
  PortfolioSearch search(problem, improver, kCapacity);
  const std::uint64_t before = improver.best().peak_bytes;
  search.attempt([] { return true; });
  CHECK(improver.best().peak_bytes <= before);
  while (!improver.is_done()) search.attempt([] { return false; });
  CHECK(improver.best().peak_bytes == kCapacity);
  CHECK(is_valid(problem, improver.best()));
}
