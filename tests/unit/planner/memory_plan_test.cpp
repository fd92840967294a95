#include <reprise/memory_plan.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <string>

#include <reprise/error.hpp>

#include "support/lifetime_shapes.hpp"
#include "support/random_recording.hpp"
#include "support/thrown_by.hpp"

namespace {

using namespace reprise;
using namespace reprise::test;
using std::chrono::seconds;

bool overlap(const BufferLifetime& a, const BufferLifetime& b) {
  return a.lower < b.upper && b.lower < a.upper;
}

std::uint64_t max_live_bytes(const std::vector<BufferLifetime>& buffers) {
  std::uint64_t max = 0;
  for (const BufferLifetime& at : buffers) {
    std::uint64_t bytes = 0;
    for (const BufferLifetime& b : buffers)
      bytes += b.lower <= at.lower && at.lower < b.upper ? b.size : 0;
    max = std::max(max, bytes);
  }
  return max;
}

void check_plan(const std::vector<BufferLifetime>& buffers, const MemoryPlan& plan) {
  REQUIRE(plan.offsets.size() == buffers.size());
  std::uint64_t peak = 0;
  for (std::size_t a = 0; a < buffers.size(); ++a) {
    REQUIRE(plan.offsets[a] % buffers[a].alignment == 0);
    if (buffers[a].size != 0) peak = std::max(peak, plan.offsets[a] + buffers[a].size);
    for (std::size_t b = 0; b < a; ++b) {
      if (buffers[a].size == 0 || buffers[b].size == 0 || !overlap(buffers[a], buffers[b]))
        continue;
      const bool is_apart = plan.offsets[a] + buffers[a].size <= plan.offsets[b] ||
                            plan.offsets[b] + buffers[b].size <= plan.offsets[a];
      if (!is_apart) FAIL("buffers " << a << " and " << b << " share bytes");
    }
  }
  CHECK(plan.peak_bytes == peak);
  CHECK(plan.lower_bound <= plan.peak_bytes);
}

// The minimum peak, by brute force: every stacking order, each buffer above all overlapping ones.
std::uint64_t brute_force_peak(const std::vector<BufferLifetime>& buffers) {
  std::vector<std::size_t> order(buffers.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::uint64_t min = ~std::uint64_t{0};
  do {
    std::vector<std::uint64_t> end(buffers.size(), 0);
    std::uint64_t peak = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
      const BufferLifetime& buffer = buffers[order[i]];
      std::uint64_t offset = 0;
      for (std::size_t j = 0; j < i; ++j) {
        if (overlap(buffer, buffers[order[j]])) offset = std::max(offset, end[order[j]]);
      }
      offset = (offset + buffer.alignment - 1) / buffer.alignment * buffer.alignment;
      end[order[i]] = offset + buffer.size;
      peak = std::max(peak, end[order[i]]);
    }
    min = std::min(min, peak);
  } while (std::next_permutation(order.begin(), order.end()));
  return min;
}

}  // namespace

TEST_CASE("memory plan: an empty list and empty buffers need no bytes") {
  CHECK(plan_memory({}).peak_bytes == 0);
  CHECK(plan_memory({}).is_optimal);
  const std::vector<BufferLifetime> empty = {{0, 5, 0}, {1, 2, 0, 64}};
  const MemoryPlan plan = plan_memory(empty);
  CHECK(plan.peak_bytes == 0);
  CHECK(plan.offsets == std::vector<std::uint64_t>{0, 0});
}

TEST_CASE("memory plan: a buffer may start when another ends and share its bytes") {
  const std::vector<BufferLifetime> buffers = {
      {0, 3, 4}, {3, 9, 4}, {0, 9, 4}, {9, 21, 4}, {0, 21, 4}};
  const MemoryPlan plan = plan_memory(buffers);
  check_plan(buffers, plan);
  CHECK(plan.peak_bytes == 12);
  CHECK(plan.lower_bound == 12);
  CHECK(plan.is_optimal);
}

TEST_CASE("memory plan: times may be negative, and only their order matters") {
  const std::vector<BufferLifetime> buffers = {
      {INT64_MIN, -5, 10}, {-5, INT64_MAX, 10}, {-6, -4, 1}};
  const MemoryPlan plan = plan_memory(buffers);
  check_plan(buffers, plan);
  CHECK(plan.peak_bytes == 11);
}

TEST_CASE("memory plan: an invalid buffer is refused, and the error names its index") {
  const auto refused = [](std::vector<BufferLifetime> buffers) {
    return thrown_by([&] { static_cast<void>(plan_memory(buffers)); });
  };
  for (const BufferLifetime wrong :
       {BufferLifetime{3, 3, 1}, BufferLifetime{4, 3, 1}, BufferLifetime{0, 1, 1, 0},
        BufferLifetime{0, 1, ~std::uint64_t{0}}, BufferLifetime{0, 1, 1, ~std::uint64_t{0}}}) {
    const auto error = refused({{0, 1, 1}, wrong});
    CHECK(error.code() == ErrorCode::InvalidArgument);
    CHECK(std::string(error.what()).find("buffer 1") != std::string::npos);
  }
}

TEST_CASE(
    "memory plan: random lists: overlapping buffers share no bytes, offsets are aligned, the peak "
    "is "
    "exact") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    const auto buffers =
        random_lifetimes({.seed = seed,
                          .buffers = 1 + static_cast<std::uint32_t>(seed * 7 % 150),
                          .time = 200,
                          .most_bytes = 300,
                          .alignment = seed % 3 == 0 ? 64u : 1u,
                          .mixed_alignment = seed % 2 == 0});
    const MemoryPlan plan = plan_memory(buffers);
    check_plan(buffers, plan);
    CHECK(plan.lower_bound >= max_live_bytes(buffers));
    CHECK(plan_memory(buffers).offsets == plan.offsets);
  }
}

TEST_CASE("memory plan: with a budget, the peak equals the brute-force optimum") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    const auto buffers = random_lifetimes({.seed = seed,
                                           .buffers = 6,
                                           .time = 3,
                                           .most_bytes = 12,
                                           .alignment = seed % 2 == 0 ? 4u : 1u,
                                           .mixed_alignment = seed % 4 == 0});
    const MemoryPlan plan = plan_memory(buffers, {.budget = seconds(60)});
    check_plan(buffers, plan);
    const std::uint64_t optimum = brute_force_peak(buffers);
    CHECK(plan.lower_bound <= optimum);
    if (std::all_of(buffers.begin(), buffers.end(),
                    [](const BufferLifetime& b) { return b.alignment == 1; })) {
      CHECK(plan.peak_bytes == optimum);
      CHECK(plan.is_optimal);
    }
    if (plan.is_optimal) CHECK(plan.peak_bytes == optimum);
  }
}

TEST_CASE("memory plan: a search restores a packing without gaps") {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    CAPTURE(seed);
    const auto buffers = cut_lifetimes({.seed = seed, .pieces = 60, .removed_percent = 10});
    const MemoryPlan plan = plan_memory(buffers, {.budget = seconds(60)});
    check_plan(buffers, plan);
    CHECK(plan.lower_bound == std::uint64_t{1} << 20);
    CHECK(plan.peak_bytes == plan.lower_bound);
  }
}

TEST_CASE("memory plan: a training step is within 5 % of its lower bound without a search") {
  const auto buffers = training_lifetimes(1, 100);
  const MemoryPlan plan = plan_memory(buffers);
  check_plan(buffers, plan);
  CHECK(static_cast<double>(plan.peak_bytes) <= 1.05 * static_cast<double>(plan.lower_bound));
}

TEST_CASE("memory plan: merging restores blocks of a cut rectangle that lacks some buffers") {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    CAPTURE(seed);
    const auto buffers = cut_lifetimes(
        {.seed = seed, .pieces = 200, .unit = 1, .removed_percent = 5, .pinwheel_percent = 0});
    const MemoryPlan plan = plan_memory(buffers);
    check_plan(buffers, plan);
    CHECK(plan.peak_bytes == plan.lower_bound);
  }
}

TEST_CASE(
    "memory plan: a long chain of overlapping neighbours is at its lower bound without a search") {
  std::vector<BufferLifetime> buffers;
  for (std::int64_t i = 0; i < 2000; ++i)
    buffers.push_back({i, i + 2, 1 + static_cast<std::uint64_t>(i * i % 997), 1});
  const MemoryPlan plan = plan_memory(buffers);
  check_plan(buffers, plan);
  CHECK(plan.peak_bytes == plan.lower_bound);
}

TEST_CASE("memory plan: a list with more overlaps than the limit of pairwise methods is planned") {
  std::vector<BufferLifetime> buffers;
  for (std::int64_t i = 0; i < 3000; ++i)
    buffers.push_back({i, 3000 + i * 7 % 2900, 1 + static_cast<std::uint64_t>(i % 13), 1});
  const MemoryPlan plan = plan_memory(buffers);
  check_plan(buffers, plan);
}

TEST_CASE("memory plan: buffers keep their earlier offsets") {
  auto buffers = training_lifetimes(3, 60);
  const MemoryPlan before = plan_memory(buffers);
  SUBCASE("one additional buffer") { buffers.push_back({100, 180, 4096}); }
  SUBCASE("one larger buffer") { buffers[20].size += 4096; }
  SUBCASE("one smaller buffer") { buffers[7].size /= 2; }
  SUBCASE("one longer lifetime") { buffers[50].upper += 10; }
  SUBCASE("unchanged") {}
  const MemoryPlan after = plan_memory(buffers, {.keep = before.offsets, .keep_within = 0.05});
  check_plan(buffers, after);
  std::size_t moved = 0;
  for (std::size_t i = 0; i < before.offsets.size(); ++i)
    moved += after.offsets[i] != before.offsets[i] ? 1 : 0;
  CHECK(moved <= buffers.size() / 100);
  CHECK(static_cast<double>(after.peak_bytes) <=
        1.05 * static_cast<double>(plan_memory(buffers).peak_bytes));
}

TEST_CASE("memory plan: earlier offsets are dropped if they cost more than keep_within") {
  const std::vector<BufferLifetime> buffers = {{0, 10, 100}, {0, 10, 100}};
  const std::vector<std::uint64_t> apart = {0, 1000};
  CHECK(plan_memory(buffers, {.keep = apart}).peak_bytes == 200);
  CHECK(plan_memory(buffers, {.keep = apart, .keep_within = 9}).offsets == apart);
}

TEST_CASE("memory plan: earlier offsets beyond 2^62 are dropped") {
  const std::vector<BufferLifetime> buffers = {{0, 10, 64}, {0, 10, 32}};
  for (const std::uint64_t offset : {~std::uint64_t{0} - 15, std::uint64_t{1} << 63}) {
    const std::vector<std::uint64_t> earlier = {offset, 0};
    const MemoryPlan plan = plan_memory(buffers, {.keep = earlier, .keep_within = 1e30});
    check_plan(buffers, plan);
    CHECK(plan.peak_bytes == 96);
  }
}

TEST_CASE("memory plan: a search reports its progress") {
  const auto buffers = cut_lifetimes({.seed = 9, .pieces = 120, .removed_percent = 0});
  std::uint64_t last = ~std::uint64_t{0};
  bool is_monotonic = true;
  const MemoryPlan plan = plan_memory(
      buffers,
      {.budget = std::chrono::milliseconds(300), .progress = [&](const MemoryPlanProgress& at) {
         is_monotonic &= at.peak_bytes <= last && at.lower_bound <= at.peak_bytes &&
                         at.budget_fraction >= 0 && at.budget_fraction <= 1;
         last = at.peak_bytes;
       }});
  CHECK(is_monotonic);
  check_plan(buffers, plan);
}
