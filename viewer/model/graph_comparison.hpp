// Compares two sections of replays, A and B: of two versions of a graph, of two traces, of one
// graph at two times, or of two graphs. Nodes are paired by match_nodes(); in two graphs of the
// same topology also by their index if label and kind are equal, because kernels can depend on
// sizes. Threads: values and pure functions; compare() may read the disk.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/contributions.hpp"
#include "model/document.hpp"
#include "model/replay_statistics.hpp"

namespace reprise::model {

enum class Verdict : std::uint8_t {
  Slower,         // significantly
  Faster,         // significantly
  Same,           // no significant difference
  TooFewSamples,  // for a significance test
  Unmeasured,     // without samples on one side
  Added,          // only in B
  Removed         // only in A
};
// "slower", "faster", "same", "too few samples", "no samples", "only in B", "only in A".
[[nodiscard]] const char* verdict_name(Verdict verdict) noexcept;

// Two sets of durations.
struct ComparedTimes {
  std::uint64_t count_a = 0, count_b = 0;
  double median_a = 0, median_b = 0;  // ns
  double change = 0;                  // relative to median_a; 0 if either side has no samples
  double p = 1;                       // two-sided Mann-Whitney p-value
  double b_is_longer = 0.5;           // see Comparison
  Verdict verdict = Verdict::Unmeasured;
  [[nodiscard]] bool is_known() const noexcept { return count_a != 0 && count_b != 0; }
  [[nodiscard]] bool is_significant() const noexcept {
    return verdict == Verdict::Slower || verdict == Verdict::Faster;
  }
};

struct ComparedNode {
  std::uint32_t a = trace::kNone, b = trace::kNone;  // kNone: not on this side
  ComparedTimes times;
  double effect = 0;  // ns that B adds to the mean replay; see Contributions. 0 if unknown
};

struct GraphComparison {
  std::shared_ptr<const Graph> graph_a, graph_b;           // null: not in its document
  ComparedTimes device_time, launch_call, launch_latency;  // of replays
  Contributions contributions_a, contributions_b;          // their differences are the effects
  std::vector<ComparedNode> nodes;  // by absolute effect, then by change of the median
  std::size_t compared = 0;         // nodes with samples on both sides
  std::size_t slower = 0, faster = 0, added = 0, removed = 0;
  // ns: of the effects, the part of the time outside nodes
  [[nodiscard]] double effect_outside() const noexcept {
    return contributions_b.outside - contributions_a.outside;
  }
};

// Whether the node belongs to the body of a loop or branch. Critical paths contain the node of the
// loop or branch, not those of its body.
[[nodiscard]] bool is_in_body(const GraphComparison& result, const ComparedNode& node);

// Why a verdict is as it is: "p is 0.0040; with 63 nodes compared, p below 0.00016 is significant".
[[nodiscard]] std::string verdict_reason(const ComparedTimes& times, std::size_t compared);

struct ComparedSide {
  const Document& document;
  GraphKey graph;
  ReplayRange range = {};
};
// Throws TraceError.
[[nodiscard]] GraphComparison compare(const ComparedSide& a, const ComparedSide& b);

[[nodiscard]] std::vector<std::pair<std::uint32_t, std::uint32_t>> matching_nodes(const Graph& a,
                                                                                  const Graph& b);
// The graphs of two documents, paired by name and rank, and among several of one name by their
// order. Of the versions of a graph, the newest with samples, else the newest that was replayed,
// else the newest.
struct MatchedGraphs {
  std::vector<std::pair<GraphKey, GraphKey>> pairs;  // by rank and name
  std::vector<GraphKey> only_a, only_b;
};
[[nodiscard]] MatchedGraphs match_graphs(const Document& a, const Document& b);
// The graph of the other document that is paired with any version of this graph.
[[nodiscard]] std::optional<GraphKey> matching_graph(const Document& document, GraphKey graph,
                                                     const Document& other);

}  // namespace reprise::model
