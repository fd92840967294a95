// Rows of the tables of the sync panel: filtering and sorting of edges and barriers. Independent of
// ImGui. Threads: values and pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include "panels/sync/sync_view_model.hpp"

namespace reprise::viewer {

enum class EdgeColumn : std::uint8_t {
  From,
  To,
  Cause,
  Cost,
  Gap,
  MedianGap,
  Hazard,
  Buffer,
  Bytes,
  Status
};
enum class BarrierColumn : std::uint8_t {
  Location,
  Label,
  Buffer,
  Access,
  Edges,
  Critical,
  Cost,
  Status
};

struct EdgeOrder {
  EdgeColumn by = EdgeColumn::Cost;
  bool is_descending = true;
  friend bool operator==(const EdgeOrder&, const EdgeOrder&) = default;
};
struct BarrierOrder {
  BarrierColumn by = BarrierColumn::Cost;
  bool is_descending = true;
  friend bool operator==(const BarrierOrder&, const BarrierOrder&) = default;
};

enum class EdgeKind : std::uint8_t { All, Critical, Redundant };
struct EdgeFilter {
  std::uint32_t causes = 0xffffffffu;  // bit per visible trace::EdgeCause
  EdgeKind kind = EdgeKind::All;
  std::uint32_t barrier = trace::kNone;  // if not kNone, only the edges of this barrier
  friend bool operator==(const EdgeFilter&, const EdgeFilter&) = default;
};

// Filtered and sorted indices. `matches`: per node, 1 if the filter
// matches, or empty. An edge passes if either of its ends matches; a barrier passes if an end of
// one of its edges or a node that accesses its buffer matches.
[[nodiscard]] std::vector<std::uint32_t> ordered_edges(const SyncViewModel& view_model,
                                                       const ShownGaps& gaps,
                                                       const EdgeFilter& filter, EdgeOrder order,
                                                       const std::vector<std::uint8_t>& matches);
[[nodiscard]] std::vector<std::uint32_t> ordered_barriers(const SyncViewModel& view_model,
                                                          BarrierOrder order,
                                                          const std::vector<std::uint8_t>& matches);

}  // namespace reprise::viewer
