// SyncDetail: the strip below the tables of the sync panel: what the selected edge or barrier
// orders and costs, or what the selected node waits for, in words, and the nodes on both sides in
// the replay that is shown. With nothing selected, of the dearest edge. Threads: the drawing
// thread's.
#pragma once

#include <optional>
#include <vector>

#include "panels/shared/panel_context.hpp"
#include "panels/sync/sync_view_model.hpp"
#include "panels/sync/sync_wait_picture.hpp"

namespace reprise::viewer {

class SyncDetail {
 public:
  // Fills `size` at ImGui's cursor. Returns the barrier whose edges the user wants to see in the
  // table.
  [[nodiscard]] std::optional<std::uint32_t> draw(PanelContext& context,
                                                  const SyncViewModel& view_model, ImVec2 size);

 private:
  void draw_edge(PanelContext& context, const SyncViewModel& view_model, std::uint32_t edge) const;
  [[nodiscard]] std::optional<std::uint32_t> draw_barrier(PanelContext& context,
                                                          const SyncViewModel& view_model,
                                                          std::uint32_t barrier) const;
  void draw_node(PanelContext& context, const SyncViewModel& view_model, std::uint32_t node) const;
  void draw_picture(PanelContext& context, std::vector<std::uint32_t> edges);
  void update(const PanelContext& context, std::vector<std::uint32_t> edges);

  WaitTimes waits_;  // of what stands below
  std::vector<std::uint32_t> seen_edges_;
  model::SampleStore::Block seen_block_;
};

}  // namespace reprise::viewer
