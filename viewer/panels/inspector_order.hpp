// The pages of the inspector about what puts nodes in order: one barrier, or one edge. Threads: the drawing thread's.
#pragma once

#include <cstdint>
#include <memory>

#include "model/sync_costs.hpp"
#include "panels/frame.hpp"
#include "panels/nodes_order.hpp"

namespace reprise::viewer {

class OrderPage {
 public:
  explicit OrderPage(Background& background) : costs_(background) {}
  // Both are of the shown graph.
  void draw_barrier(Frame& frame, std::uint32_t barrier);
  void draw_edge(Frame& frame, std::uint32_t edge);

 private:
  struct Costs {
    model::GraphKey graph;
    model::SyncCosts of;
  };
  // Null: no times, or not yet.
  [[nodiscard]] std::shared_ptr<const Costs> ask(const Frame& frame);

  Latest<FactsMark, Costs> costs_;
  FactsMark asked_;
};

}  // namespace reprise::viewer
