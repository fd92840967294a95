// The partial order of transients before placement: precedence, interval relaxation, maximum-weight
// antichain.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "memory/interval_relaxation.hpp"
#include "memory/lower_bound.hpp"
#include "memory/precedence.hpp"
#include "support/manual_dependencies.hpp"
#include "support/random_recording.hpp"
#include "support/recording_builder.hpp"
#include "support/small_stack.hpp"

namespace {

using namespace reprise;
using namespace reprise::detail;
using namespace reprise::test;

struct Ordered {
  LoweredGraph lowered;
  TransientUses uses;
};

// Nodes with random edges; each accesses some of a few transients.
Ordered random_order(std::uint64_t seed, Lowering lowering) {
  Random random(seed);
  const std::uint32_t nodes = 2 + random.below(80), buffers = 1 + random.below(30);
  RecordingBuilder builder;
  for (std::uint32_t i = 0; i < buffers; ++i)
    builder.add_buffer("t" + std::to_string(i), 1 + random.below(1000), BufferKind::Transient);
  for (std::uint32_t i = 0; i < nodes; ++i) {
    std::vector<BufferAccess> accesses;
    for (std::uint32_t a = random.below(3); a > 0; --a)
      accesses.push_back(builder.read_write(random.below(buffers)));
    builder.dispatch("k", accesses);
  }
  const RecordingPtr recording = builder.finish();
  const DependencyGraph dependencies =
      random_dependencies({.seed = seed, .nodes = nodes, .edge_percent = 2 + random.below(20)});
  Ordered ordered{build_lowered_graph(dependencies, lowering), {}};
  ordered.uses = collect_transient_uses(*recording, dependencies, ordered.lowered, 64);
  return ordered;
}

template <class Check>
void for_each_random_order(Check check) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    CAPTURE(seed);
    for (const Lowering lowering : {Lowering::Faithful, Lowering::Lanes(3), Lowering::Lanes(1)}) {
      const Ordered ordered = random_order(seed, lowering);
      if (!ordered.uses.by_first_use.empty())
        check(ordered, ReachabilityIndex(ordered.lowered, ordered.uses));
    }
  }
}

std::uint64_t max_live_bytes(const IntervalRelaxation& relaxation) {
  std::uint64_t max = 0;
  for (const BufferLifetime& at : relaxation.lifetimes) {
    std::uint64_t bytes = 0;
    for (const BufferLifetime& other : relaxation.lifetimes)
      bytes += other.lower <= at.lower && at.lower < other.upper ? other.size : 0;
    max = std::max(max, bytes);
  }
  return max;
}

}  // namespace

TEST_CASE(
    "transient order: precedence is exact for every pair, and covers are the minimal relation") {
  for_each_random_order([](const Ordered& ordered, const ReachabilityIndex& order) {
    const Precedence precedence = find_precedence(ordered.uses, order);
    std::size_t pairs = 0;
    for (std::uint32_t later = 0; later < precedence.size(); ++later) {
      for (std::uint32_t earlier = 0; earlier < later; ++earlier) {
        const bool precedes =
            order.precedes(precedence.transients[earlier], precedence.transients[later]);
        REQUIRE(precedence.precedes(earlier, later) == precedes);
        CHECK_FALSE(order.precedes(precedence.transients[later], precedence.transients[earlier]));
        if (!precedes) continue;
        ++pairs;
        const bool is_implied = [&] {
          for (std::uint32_t middle = earlier + 1; middle < later; ++middle) {
            if (precedence.precedes(earlier, middle) && precedence.precedes(middle, later))
              return true;
          }
          return false;
        }();
        const bool is_cover = std::count(precedence.covers.begin(), precedence.covers.end(),
                                         std::pair(earlier, later)) == 1;
        CHECK(is_cover == !is_implied);
      }
    }
    CHECK(precedence.covers.size() <= pairs);
  });
}

TEST_CASE("transient order: relaxed lifetimes overlap if two transients may not share bytes") {
  for_each_random_order([](const Ordered& ordered, const ReachabilityIndex& order) {
    const IntervalRelaxation relaxation = relax_to_intervals(ordered.uses, order);
    for (std::size_t a = 0; a < relaxation.transients.size(); ++a) {
      REQUIRE(relaxation.lifetimes[a].lower < relaxation.lifetimes[a].upper);
      CHECK(relaxation.lifetimes[a].size ==
            ordered.uses.transients[relaxation.transients[a]].bytes);
      for (std::size_t b = 0; b < a; ++b) {
        if (order.precedes(relaxation.transients[b], relaxation.transients[a])) continue;
        CHECK(relaxation.lifetimes[a].lower < relaxation.lifetimes[b].upper);
      }
    }
  });
}

TEST_CASE("transient order: in a chain the interval relaxation is exact") {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    CAPTURE(seed);
    const Ordered ordered = random_order(seed, Lowering::Lanes(1));
    if (ordered.uses.by_first_use.empty()) continue;
    const ReachabilityIndex order(ordered.lowered, ordered.uses);
    const IntervalRelaxation relaxation = relax_to_intervals(ordered.uses, order);
    CHECK(max_live_bytes(relaxation) ==
          find_max_weight_antichain(ordered.uses, find_precedence(ordered.uses, order)).bytes);
  }
}

TEST_CASE(
    "transient order: the maximum-weight antichain is unordered and at least the level bound") {
  for_each_random_order([](const Ordered& ordered, const ReachabilityIndex& order) {
    const Precedence precedence = find_precedence(ordered.uses, order);
    const MaxWeightAntichain antichain = find_max_weight_antichain(ordered.uses, precedence);
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < antichain.members.size(); ++i) {
      bytes += ordered.uses.transients[precedence.transients[antichain.members[i]]].bytes;
      for (std::size_t j = 0; j < i; ++j)
        CHECK_FALSE(precedence.precedes(antichain.members[j], antichain.members[i]));
    }
    CHECK(antichain.bytes == bytes);
    std::uint64_t largest = 0;  // transients without uses included
    for (const Transient& transient : ordered.uses.transients)
      largest = std::max(largest, transient.bytes);
    CHECK(std::max(antichain.bytes, largest) >= slab_lower_bound(ordered.lowered, ordered.uses));
  });
}

TEST_CASE("transient order: the antichain of a long chain is found on a small stack") {
  constexpr std::uint32_t kCount = 4096;
  TransientUses uses;
  Precedence chain;
  for (std::uint32_t i = 0; i < kCount; ++i) {
    Transient transient;
    transient.bytes = i == 0 || i + 1 == kCount ? 1000 : 1;
    uses.transients.push_back(transient);
    chain.transients.push_back(i);
    if (i != 0) chain.covers.emplace_back(i - 1, i);
  }
  MaxWeightAntichain antichain;
  on_small_stack([&] { antichain = find_max_weight_antichain(uses, chain); });
  CHECK(antichain.bytes == 1000);
  CHECK(antichain.members.size() == 1);
}
