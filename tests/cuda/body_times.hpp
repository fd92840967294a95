// Checks of node times in bodies, for every source of times. Threads: one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "cuda/timed_graph.hpp"

namespace reprise::test {

// The iterations of each body, by its number.
inline std::vector<std::uint64_t> iterations_of_bodies(const detail::TimingLayout& timing,
                                                       const CollectedReplays::Replay& replay) {
  std::vector<std::uint64_t> iterations;
  for (const detail::BodyLayout& layout : timing.bodies)
    iterations.push_back(detail::iterations_of(replay.nodes[layout.first_slot]));
  return iterations;
}

// Checks the first iterations of every body, at most `max_iterations`: each node has a time that
// ends after its predecessors and after the previous iteration, and lies within the graph's own
// node that runs the body.
inline void check_iterations(const Timed& t, const CollectedReplays::Replay& replay,
                             std::uint64_t max_iterations) {
  const detail::TimingLayout timing = detail::timing_layout(t.plan());
  const auto plans = detail::body_plans(t.plan());
  const auto end_of = [](const detail::NodeTime& time) { return time.started + time.duration; };
  for (std::uint32_t body = 0; body < timing.bodies.size(); ++body) {
    const detail::BodyLayout& layout = timing.bodies[body];
    const std::uint64_t iterations = std::min<std::uint64_t>(
        {detail::iterations_of(replay.nodes[layout.first_slot]), layout.kept, max_iterations});
    std::int64_t before = 0;  // the end of the previous iteration
    for (std::uint64_t iteration = 0; iteration < iterations; ++iteration) {
      std::int64_t last = 0;
      for (std::uint32_t node = 0; node < layout.nodes; ++node) {
        CAPTURE(body);
        CAPTURE(iteration);
        CAPTURE(node);
        const detail::NodeTime& time = replay.nodes[layout.slot(node, iteration)];
        REQUIRE(time.started != 0);
        CHECK(end_of(time) + 1 >= before);
        for (const detail::LoweredEdge& edge : plans[body]->lowered.edges_into(node)) {
          // Compares ends only: CUPTI may record a start while the node still waits.
          CHECK(end_of(time) + 1 >= end_of(replay.nodes[layout.slot(edge.from, iteration)]));
        }
        if (layout.owner == detail::kNone && replay.nodes[layout.parent].started != 0) {
          const detail::NodeTime& parent = replay.nodes[layout.parent];
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
