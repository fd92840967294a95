// Which edges and barriers the tables of the sync panel show, and in which order. Knows no ImGui.
// Threads: values and pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include "panels/sync/sync_view_model.hpp"

namespace reprise::viewer {

enum class EdgeColumn : std::uint8_t { From, To, Cause, Hazard, Buffer, Bytes, Cost, Gap, Remark };
enum class BarrierColumn : std::uint8_t {
  Place,
  Label,
  Buffer,
  Access,
  Edges,
  Critical,
  Cost,
  Remark
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

enum class EdgeKind : std::uint8_t { All, Critical, OrdersNothing };
struct EdgeChoice {
  std::uint32_t causes = 0xffffffffu;  // a bit for each trace::EdgeCause
  EdgeKind kind = EdgeKind::All;
  std::uint32_t barrier = trace::kNone;  // only its edges; kNone: all
  friend bool operator==(const EdgeChoice&, const EdgeChoice&) = default;
};

// `gaps`: an edge each, or empty. `matches`: a node each, 1 where the filter lets it pass, or
// empty: an edge passes with either end, a barrier with an end of an edge of it or a node that
// touches its buffer.
[[nodiscard]] std::vector<std::uint32_t> ordered_edges(const SyncViewModel& view_model,
                                                       const std::vector<EdgeGap>& gaps,
                                                       const EdgeChoice& choice, EdgeOrder order,
                                                       const std::vector<std::uint8_t>& matches);
[[nodiscard]] std::vector<std::uint32_t> ordered_barriers(const SyncViewModel& view_model,
                                                          BarrierOrder order,
                                                          const std::vector<std::uint8_t>& matches);

}  // namespace reprise::viewer
