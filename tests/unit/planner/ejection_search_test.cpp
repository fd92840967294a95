#include "planner/ejection_search.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

#include "base/aligned_up.hpp"
#include "planner/ejection_thread.hpp"
#include "planner/greedy_pack.hpp"
#include "planner/lifetime_cliques.hpp"
#include "support/lifetime_shapes.hpp"
#include "unit/planner/lifetime_problem.hpp"

namespace {

using namespace reprise;
using namespace reprise::detail;
using namespace reprise::test;

constexpr std::uint64_t kManySteps = 2'000'000;

Packing stacked(const PackProblem& problem) {
  std::vector<std::uint32_t> order(problem.size());
  std::iota(order.begin(), order.end(), 0u);
  return GreedyPacker(problem).pack(order, FitRule::FirstFit);
}

void check_packing(const PackProblem& problem, const Packing& packing) {
  std::uint64_t peak = 0;
  for (std::uint32_t item = 0; item < problem.size(); ++item) {
    const std::uint64_t end = packing.offsets[item] + problem.items[item].bytes;
    peak = std::max(peak, end);
    REQUIRE(packing.offsets[item] % problem.items[item].alignment == 0);
    for (const std::uint32_t other : problem.conflicts_of(item)) {
      const std::uint64_t other_end = packing.offsets[other] + problem.items[other].bytes;
      const bool is_apart = end <= packing.offsets[other] || other_end <= packing.offsets[item];
      REQUIRE(is_apart);
    }
  }
  CHECK(packing.peak_bytes == peak);
}

}  // namespace

TEST_CASE(
    "ejection search: it finds a packing for a feasible capacity that greedy packings do not "
    "reach") {
  const PackProblem problem =
      problem_of(cut_lifetimes({.seed = 3, .pieces = 200, .removed_percent = 25}));
  const Packing greedy = best_greedy(problem, kCapacity);
  REQUIRE(greedy.peak_bytes > kCapacity);
  EjectionSearch search(problem, 3);
  search.start(greedy, kCapacity);
  CHECK_FALSE(search.is_complete());
  REQUIRE(search.run(kManySteps, nullptr));
  CHECK(search.is_complete());
  check_packing(problem, search.packing());
  CHECK(search.packing().peak_bytes <= kCapacity);
}

TEST_CASE("ejection search: offsets stay multiples of each item's alignment") {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    CAPTURE(seed);
    const PackProblem problem = problem_of(random_lifetimes({.seed = seed,
                                                             .buffers = 80,
                                                             .time = 100,
                                                             .most_bytes = 300,
                                                             .alignment = 64,
                                                             .mixed_alignment = true}));
    const Packing first = stacked(problem);
    EjectionSearch search(problem, seed);
    search.start(first, first.peak_bytes - 1);
    if (search.run(20'000, nullptr)) {
      check_packing(problem, search.packing());
      CHECK(search.packing().peak_bytes < first.peak_bytes);
    }
  }
}

TEST_CASE(
    "ejection search: it lowers the peak of a long list with few overlaps like that of a short "
    "one") {
  const PackProblem problem = problem_of(random_lifetimes(
      {.seed = 1, .buffers = 600, .time = 10'000, .most_bytes = 300, .alignment = 4}));
  REQUIRE(20 * problem.conflicts.size() < std::size_t{problem.size()} * problem.size());
  const Packing first = stacked(problem);
  const std::uint64_t capacity = aligned_up((clique_bound(problem) + first.peak_bytes) / 2, 4);
  REQUIRE(first.peak_bytes > capacity);
  EjectionSearch search(problem, 1);
  search.start(first, capacity);
  REQUIRE(search.run(kManySteps, nullptr));
  check_packing(problem, search.packing());
  CHECK(search.packing().peak_bytes <= capacity);
}

TEST_CASE(
    "ejection search: the same seed finds the same packing, and a run continues where the last one "
    "ended") {
  const PackProblem problem =
      problem_of(cut_lifetimes({.seed = 3, .pieces = 200, .removed_percent = 25}));
  const Packing greedy = best_greedy(problem, kCapacity);
  EjectionSearch whole(problem, 3), parts(problem, 3);
  whole.start(greedy, kCapacity);
  parts.start(greedy, kCapacity);
  REQUIRE(whole.run(kManySteps, nullptr));
  for (int part = 0; part < 2000 && !parts.run(1000, nullptr); ++part) {
  }
  REQUIRE(parts.is_complete());
  CHECK(parts.packing().offsets == whole.packing().offsets);
}

TEST_CASE(
    "ejection search: an infeasible capacity is never reached, and run() returns when stop() is "
    "true") {
  const PackProblem problem = problem_of({{0, 4, 10}, {1, 5, 10}, {2, 6, 10}});
  const Packing first = stacked(problem);
  EjectionSearch search(problem, 1);
  search.start(first, 29);
  CHECK_FALSE(search.run(5000, nullptr));
  int asked = 0;
  CHECK_FALSE(search.run(kManySteps, [&] { return ++asked == 3; }));
  CHECK(asked == 3);
}

TEST_CASE(
    "ejection thread: both sides exchange their packings, and the thread ends with its owner") {
  const PackProblem problem = problem_of({{0, 4, 10}, {1, 5, 10}, {4, 8, 10}, {5, 9, 10}});
  Packing high;
  high.offsets = {0, 10, 20, 30};
  high.peak_bytes = 40;
  EjectionThread thread(problem, high, 19, 0);  // the optimum is 20: it never ends by itself
  Packing best = thread.exchange(high);
  while (best.peak_bytes > 20) best = thread.exchange(high);
  check_packing(problem, best);
  CHECK_FALSE(thread.is_at_target());
  Packing found = best;
  found.offsets = {0, 10, 0, 10};
  CHECK(thread.exchange(found).peak_bytes == 20);
}

TEST_CASE("ejection thread: it reports that the target is reached") {
  const PackProblem problem = problem_of({{0, 4, 10}, {1, 5, 10}, {4, 8, 10}, {5, 9, 10}});
  Packing high;
  high.offsets = {0, 10, 20, 30};
  high.peak_bytes = 40;
  EjectionThread thread(problem, high, 20, 0);
  while (!thread.is_at_target()) std::this_thread::yield();
  CHECK(thread.exchange(high).peak_bytes == 20);
}
