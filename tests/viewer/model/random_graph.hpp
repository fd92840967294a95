// Random graphs, times and records for tests of the model; deterministic for a seed. Threads:
// values.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "trace/records.hpp"

namespace reprise::test {

struct RandomGraph {
  std::uint32_t nodes = 12;
  double density = 0.25;  // probability of an edge, 0 to 1
  std::uint32_t lanes = 3;
  std::uint32_t buffers = 5;
  std::uint32_t barriers = 3;
};

[[nodiscard]] trace::GraphVersion random_graph(std::uint64_t seed, const RandomGraph& options = {});

// One sample per node, in an order that the edges allow, with gaps; some without a time.
[[nodiscard]] trace::SampleBlock random_replay(const trace::GraphVersion& graph, std::uint64_t seed,
                                               std::uint32_t one_lost_in = 0);

}  // namespace reprise::test
