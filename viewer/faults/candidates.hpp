// Finds the nodes of graphs that a grid of a core dump can be. Threads: pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include "faults/core_dump.hpp"
#include "faults/trace_facts.hpp"

namespace reprise::faults {

struct Candidate {
  std::uint32_t graph = 0, node = 0;
  // Replays of the graph that are not known to have ended; 0: none.
  std::uint64_t first_replay = 0, last_replay = 0;
  trace::Time launched = 0;  // of last_replay
  // Whether the addresses that the trace has of the node are among the grid's parameters, in order.
  enum class Parameters : std::uint8_t {
    Equal,
    Unknown,
    Different
  } parameters = Parameters::Unknown;
};

struct Candidates {
  std::vector<Candidate> nodes;  // the most likely first
  // Nodes with this kernel, grid and block whose parameters differ, while those of `nodes` are
  // equal.
  std::size_t excluded = 0;
};

// Nodes whose kernel, grid and block are those of `grid`; a kernel that the dump does not name fits
// every node, and a grid without a size fits every size. Equal parameters, then replays that had
// not ended, then later launches come first.
[[nodiscard]] Candidates find_candidates(const DumpedGrid& grid, const TraceFacts& facts);

// The nodes that run after `node`, in order.
[[nodiscard]] std::vector<std::uint32_t> successors(const trace::GraphVersion& graph,
                                                    std::uint32_t node);

}  // namespace reprise::faults
