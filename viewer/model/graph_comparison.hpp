// What changed between two stretches of replays: of two versions of a graph, of two traces, or of
// one graph at two times. Nodes match as match_nodes() says. Threads: pure functions, except
// blocks_of(), which may read the disk.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "model/document.hpp"
#include "model/replay_statistics.hpp"
#include "model/significance.hpp"

namespace reprise::model {

// The samples of a range of replays; of more than `most` sampled ones, that many, spread evenly.
// Throws TraceError.
[[nodiscard]] std::vector<SampleStore::Block> blocks_of(const Document& document, GraphKey graph,
                                                        ReplayRange range, std::size_t most);

struct Stretch {
  const Graph& graph;
  std::vector<SampleStore::Block> blocks;  // of that version
};

struct NodeComparison {
  std::uint32_t a = 0, b = 0;              // nodes
  std::uint64_t count_a = 0, count_b = 0;  // samples with a time
  double median_a = 0, median_b = 0;       // ns
  double change = 0;                       // of median_a; 0 where that is 0
  double p = 1;  // of a difference as large by chance: Mann-Whitney, two-sided
  bool is_significant =
      false;  // p, times the number of nodes compared (Bonferroni), below kSignificanceLevel
};

struct GraphComparison {
  std::vector<NodeComparison> nodes;          // by a
  std::vector<std::uint32_t> added, removed;  // nodes of b and of a that match nothing, ascending
};

[[nodiscard]] std::vector<std::pair<std::uint32_t, std::uint32_t>> matching_nodes(const Graph& a,
                                                                                  const Graph& b);
[[nodiscard]] GraphComparison compare(const Stretch& a, const Stretch& b);

}  // namespace reprise::model
