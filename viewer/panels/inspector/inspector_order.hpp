// The pages of the inspector about what puts nodes in order: one barrier, or one edge. Threads: the
// drawing thread's.
#pragma once

#include <cstdint>
#include <memory>

#include "model/sync_costs.hpp"
#include "panels/nodes/nodes_order.hpp"
#include "panels/shared/panel_context.hpp"

namespace reprise::viewer {

class OrderPage {
 public:
  explicit OrderPage(Background& background) : costs_(background) {}
  // Both are of the shown graph.
  void draw_barrier(PanelContext& context, std::uint32_t barrier);
  void draw_edge(PanelContext& context, std::uint32_t edge);

 private:
  struct Costs {
    model::GraphKey graph;
    model::SyncCosts of;
  };
  // Null: no times, or not yet.
  [[nodiscard]] std::shared_ptr<const Costs> ask(const PanelContext& context);

  AsyncValue<ViewModelMark, Costs> costs_;
  ViewModelMark asked_;
};

}  // namespace reprise::viewer
