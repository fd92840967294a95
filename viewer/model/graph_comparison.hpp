// Compares the node times of two ranges of replays: of two versions of a graph, of two traces, or
// of one graph at two times, or of two graphs. Nodes are paired by match_nodes(); in two graphs of
// the same topology also by their index if label and kind are equal, because kernels can depend on
// sizes. Threads: pure functions, except
// blocks_of(), which may read the disk.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "model/document.hpp"
#include "model/replay_statistics.hpp"
#include "model/significance.hpp"

namespace reprise::model {

// The sample blocks of a range of replays. If more than `max_blocks` replays are sampled, returns
// that many, evenly spread. Throws TraceError.
[[nodiscard]] std::vector<SampleStore::Block> blocks_of(const Document& document, GraphKey graph,
                                                        ReplayRange range, std::size_t max_blocks);

struct SampledReplays {
  const Graph& graph;
  std::vector<SampleStore::Block> blocks;  // samples of this version
};

struct NodeComparison {
  std::uint32_t a = 0, b = 0;              // nodes
  std::uint64_t count_a = 0, count_b = 0;  // samples with a time
  double median_a = 0, median_b = 0;       // ns
  double change = 0;                       // relative to median_a; 0 if median_a is 0
  double p = 1;                            // two-sided Mann-Whitney p-value
  // p, multiplied by the number of compared nodes (Bonferroni), is below kSignificanceLevel
  bool is_significant = false;
};

struct GraphComparison {
  std::vector<NodeComparison> nodes;          // by a
  std::vector<std::uint32_t> added, removed;  // unmatched nodes of b and of a, ascending
};

[[nodiscard]] std::vector<std::pair<std::uint32_t, std::uint32_t>> matching_nodes(const Graph& a,
                                                                                  const Graph& b);
[[nodiscard]] GraphComparison compare(const SampledReplays& a, const SampledReplays& b);

}  // namespace reprise::model
