// Checks of node times in bodies, for every source of times. Threads: one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "cuda/timed_graph.hpp"

namespace reprise::test {

// The iterations of each body, by its number.
inline std::vector<std::uint64_t> rounds_of_bodies(const detail::TimingLayout& slots,
                                                   const Notes::Replay& replay) {
  std::vector<std::uint64_t> rounds;
  for (const detail::BodyPlace& place : slots.bodies)
    rounds.push_back(detail::rounds_of(replay.nodes[place.first_slot]));
  return rounds;
}

// Checks the first iterations of every body, at most `most_rounds`: each node has a time that ends
// after its predecessors and after the previous iteration, and lies within the graph's own node
// that runs the body.
inline void check_rounds(const Timed& t, const Notes::Replay& replay, std::uint64_t most_rounds) {
  const detail::TimingLayout slots = detail::timing_layout(t.plan());
  const auto plans = detail::plans_of_bodies(t.plan());
  const auto end_of = [](const detail::NodeTime& time) { return time.started + time.duration; };
  for (std::uint32_t body = 0; body < slots.bodies.size(); ++body) {
    const detail::BodyPlace& place = slots.bodies[body];
    const std::uint64_t rounds = std::min<std::uint64_t>(
        {detail::rounds_of(replay.nodes[place.first_slot]), place.kept, most_rounds});
    std::int64_t before = 0;  // the end of the previous iteration
    for (std::uint64_t round = 0; round < rounds; ++round) {
      std::int64_t last = 0;
      for (std::uint32_t node = 0; node < place.nodes; ++node) {
        CAPTURE(body);
        CAPTURE(round);
        CAPTURE(node);
        const detail::NodeTime& time = replay.nodes[place.slot(node, round)];
        REQUIRE(time.started != 0);
        CHECK(end_of(time) + 1 >= before);
        for (const detail::LoweredEdge& edge : plans[body]->lowered.edges_into(node)) {
          // Compares ends only: CUPTI may record a start while the node still waits.
          CHECK(end_of(time) + 1 >= end_of(replay.nodes[place.slot(edge.from, round)]));
        }
        if (place.owner == detail::kNone && replay.nodes[place.parent].started != 0) {
          const detail::NodeTime& parent = replay.nodes[place.parent];
          CHECK(time.started + 1 >= parent.started);
          CHECK(end_of(time) <= end_of(parent) + 1);
        }
        last = std::max(last, end_of(time));
      }
      before = last;
    }
  }
}

}  // namespace reprise::test
