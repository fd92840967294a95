// CompareResult: the differences between two sections of replays, A and B: of two traces, of two
// versions of a graph, or of one graph at two times. Performs no drawing. Threads: values;
// compare_sides() may read the disk.
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

enum class Verdict : std::uint8_t {
  Slower,         // significantly
  Faster,         // significantly
  Same,           // no significant difference
  TooFewSamples,  // for a significance test
  Unmeasured,
  Added,   // only in B
  Removed  // only in A
};

struct ComparedNode {
  Verdict verdict = Verdict::Same;
  std::uint32_t a = trace::kNone, b = trace::kNone;  // node indices; kNone: not on this side
  std::uint64_t count_a = 0, count_b = 0;            // samples with a time
  double median_a = 0, median_b = 0;                 // ns
  double change = 0;                                 // relative to median_a
  double p = 1;
  double effect = 0;  // ns added per replay: change of the median times runs per replay
};

struct ComparedTimes {
  std::size_t count_a = 0, count_b = 0;
  double median_a = 0, median_b = 0, change = 0, p = 1;
  bool is_significant = false;
  [[nodiscard]] bool is_known() const noexcept { return count_a != 0 && count_b != 0; }
};

struct CompareResult {
  std::shared_ptr<const model::Graph> graph_a, graph_b;
  std::vector<ComparedNode> nodes;           // sorted by descending absolute effect
  ComparedTimes device_time, launch_call;    // of replays
  std::size_t sampled_a = 0, sampled_b = 0;  // sampled replays that were compared
  std::size_t slower = 0, faster = 0, added = 0, removed = 0;
};

// Maximum number of sampled replays read per side, evenly spread.
inline constexpr std::size_t kComparedReplays = 512;

// Throws TraceError.
[[nodiscard]] CompareResult compare_sides(const CompareSide& a, const CompareSide& b);

}  // namespace reprise::viewer
