// Generates samples like those of graph replays, for benchmarks of trace writers and readers.
// Deterministic for a seed. Threads: pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/records.hpp"

namespace reprise::bench {

// Nodes of the graph that the benchmarks of traces use.
inline constexpr std::uint32_t kTracedNodes = 1'000;

// The variation of a node's times between replays.
enum class Times : std::uint8_t {
  Steady,  // by 5 %
  Wild     // by a factor of 1,000
};

// A graph of `nodes` nodes in layers of 32, each with two predecessors in the previous layer, on
// four lanes.
[[nodiscard]] trace::GraphVersion layered_graph(std::uint32_t nodes);
// Samples of replays first, first + 1, ...: nodes of 2 us each on four workers.
[[nodiscard]] std::vector<trace::SampleBlock> sample_blocks(const trace::GraphVersion& graph,
                                                            std::uint64_t first,
                                                            std::uint32_t count, Times times);
// The replay that a block belongs to.
[[nodiscard]] trace::Replay replay_of(const trace::SampleBlock& block);

}  // namespace reprise::bench
