// SpanSummary: what ran in a span of a recording, and why nothing ran in the rest of it: replays by
// graph, nodes by kernel and by label, transfers, waits by cause. Times are cut to the span.
// Threads: a pure function, which may read the disk.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "model/activity.hpp"
#include "model/gaps.hpp"
#include "model/node_groups.hpp"
#include "model/selection.hpp"

namespace reprise::model {

struct SpanPart {
  std::string name;
  std::uint64_t count = 0;  // replays, nodes or gaps
  double time = 0;          // ns
  std::uint64_t bytes = 0;  // of transfers
};

struct SpanSummary {
  SelectedSpan span;
  double busy = 0;  // ns with at least one replay
  // Replays in the span, those of them with node times, and those whose nodes were read: evenly
  // chosen if they are many. All figures of nodes are of these.
  std::uint64_t replays = 0, sampled = 0, read = 0;
  std::uint64_t nodes = 0;                  // executions
  double node_time = 0;                     // ns, without the nodes that run others
  std::array<SpanPart, 3> idle, gaps;       // indexed by IdleCause and GapKind; without names
  std::vector<SpanPart> graphs, transfers;  // by time, largest first; transfers of one name as one
  std::vector<NodeGroup> kernels, labels;   // see node_groups.hpp
};
inline constexpr std::uint64_t kMaxSpanReplays = 256;  // whose nodes are read

// `by`: the rows between whose nodes gaps count.
[[nodiscard]] SpanSummary summarise(const Document& document, const Activity& activity,
                                    SelectedSpan span, RowsBy by);

}  // namespace reprise::model
