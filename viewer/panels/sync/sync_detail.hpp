// SyncDetail: the details below the tables of the sync panel: order and cost of the selected edge
// or barrier, or the predecessors of the selected node, with a chart of the nodes in the shown
// replay. Without a selection the costliest edge is shown. Threads: the drawing thread's.
#pragma once

#include <optional>
#include <vector>

#include "panels/shared/panel_context.hpp"
#include "panels/sync/sync_view_model.hpp"
#include "panels/sync/sync_wait_chart.hpp"

namespace reprise::viewer {

class SyncDetail {
 public:
  // Fills `size` at ImGui's cursor. Returns a barrier if the user requests its edges in the edge
  // table.
  [[nodiscard]] std::optional<std::uint32_t> draw(PanelContext& context,
                                                  const SyncViewModel& view_model, ImVec2 size);

 private:
  void draw_edge(PanelContext& context, const SyncViewModel& view_model, std::uint32_t edge) const;
  [[nodiscard]] std::optional<std::uint32_t> draw_barrier(PanelContext& context,
                                                          const SyncViewModel& view_model,
                                                          std::uint32_t barrier) const;
  void draw_node(PanelContext& context, const SyncViewModel& view_model, std::uint32_t node) const;
  void draw_chart(PanelContext& context, std::vector<std::uint32_t> edges);
  void update(const PanelContext& context, std::vector<std::uint32_t> edges);

  WaitTimes waits_;  // for chart_edges_ and chart_block_
  std::vector<std::uint32_t> chart_edges_;
  model::SampleStore::Block chart_block_;
};

}  // namespace reprise::viewer
