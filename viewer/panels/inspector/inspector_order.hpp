// The inspector pages of a barrier and of an edge. Threads: drawing thread only.
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
  // `barrier` and `edge` are indices in the shown graph.
  void draw_barrier(PanelContext& context, std::uint32_t barrier);
  void draw_edge(PanelContext& context, std::uint32_t edge);

 private:
  struct Costs {
    model::GraphKey graph;
    model::SyncCosts costs;
  };
  // Null: no node was measured, or the costs are not ready.
  [[nodiscard]] std::shared_ptr<const Costs> request_costs(const PanelContext& context);

  AsyncValue<GraphViewModelKey, Costs> costs_;
  GraphViewModelKey requested_;
};

}  // namespace reprise::viewer
