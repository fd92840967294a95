// CompareResult: what changed from one stretch of replays, A, to another, B: of two traces, two
// versions of a graph, or one graph at two times. Draws nothing. Threads: values; compare_sides()
// may read the disk.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "model/document.hpp"
#include "model/replay_statistics.hpp"

namespace reprise::viewer {

struct CompareSide {
  std::shared_ptr<const model::Document> document;
  model::GraphKey graph;
  model::ReplayRange range;
};

enum class ComparedAs : std::uint8_t {
  Slower,  // by more than chance
  Faster,
  Same,    // not by more than chance
  TooFew,  // samples to tell
  Unmeasured,
  Added,   // only in B
  Removed  // only in A
};

struct ComparedNode {
  ComparedAs as = ComparedAs::Same;
  std::uint32_t a = trace::kNone, b = trace::kNone;  // nodes
  std::uint64_t count_a = 0, count_b = 0;            // samples with a time
  double median_a = 0, median_b = 0;                 // ns
  double change = 0;                                 // of median_a
  double p = 1;
  double effect = 0;  // ns that it adds to a replay: its change by how often it runs in one
};

struct ComparedTimes {
  std::size_t count_a = 0, count_b = 0;
  double median_a = 0, median_b = 0, change = 0, p = 1;
  bool is_significant = false;
  [[nodiscard]] bool is_known() const noexcept { return count_a != 0 && count_b != 0; }
};

struct CompareResult {
  std::shared_ptr<const model::Graph> graph_a, graph_b;
  std::vector<ComparedNode> nodes;           // by the size of their effect, largest first
  ComparedTimes device_time, launch_call;    // of replays
  std::size_t sampled_a = 0, sampled_b = 0;  // replays whose nodes were compared
  std::size_t slower = 0, faster = 0, added = 0, removed = 0;
};

// Replays of each side whose samples are read, spread evenly over more.
inline constexpr std::size_t kComparedReplays = 512;

// Throws TraceError.
[[nodiscard]] CompareResult compare_sides(const CompareSide& a, const CompareSide& b);

}  // namespace reprise::viewer
