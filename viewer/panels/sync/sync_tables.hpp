// The tables of the sync panel: edges, barriers and findings. They sort in the background and show
// the last order until the next is there. Threads: the drawing thread's.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "panels/shared/panel_context.hpp"
#include "panels/sync/sync_order.hpp"

namespace reprise::viewer {

using SyncViewModelPointer = std::shared_ptr<const SyncViewModel>;
using EdgeGaps = std::shared_ptr<const std::vector<EdgeGap>>;

class EdgeTable {
 public:
  explicit EdgeTable(Background& background) : order_(background) {}
  // `gaps` null: no replay with times is shown.
  void draw(PanelContext& context, const SyncViewModelPointer& view_model, const EdgeGaps& gaps,
            const EdgeChoice& choice, ImVec2 size);
  // Rows as they were drawn last.
  [[nodiscard]] std::size_t row_count() const noexcept { return rows_; }

 private:
  struct Key {
    SyncViewModelPointer view_model;
    EdgeGaps gaps;  // of a sort by them alone
    EdgeChoice choice;
    EdgeOrder order;
    std::vector<std::uint8_t> matches;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct Rows {
    SyncViewModelPointer view_model;  // that they are edges of
    std::vector<std::uint32_t> edges;
  };
  void draw_row(PanelContext& context, const SyncViewModel& view_model,
                const std::vector<EdgeGap>* gaps, std::uint32_t edge, double dearest) const;

  AsyncValue<Key, Rows> order_;
  Key asked_;
  EdgeOrder sort_;
  model::Selection seen_;
  std::size_t rows_ = 0;
};

class BarrierTable {
 public:
  explicit BarrierTable(Background& background) : order_(background) {}
  void draw(PanelContext& context, const SyncViewModelPointer& view_model, ImVec2 size);

 private:
  struct Key {
    SyncViewModelPointer view_model;
    BarrierOrder order;
    std::vector<std::uint8_t> matches;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct Rows {
    SyncViewModelPointer view_model;
    std::vector<std::uint32_t> barriers;
  };
  void draw_row(PanelContext& context, const SyncViewModel& view_model, std::uint32_t barrier,
                double dearest) const;

  AsyncValue<Key, Rows> order_;
  Key asked_;
  BarrierOrder sort_;
  model::Selection seen_;
};

void draw_findings(PanelContext& context, const std::vector<Finding>& findings, ImVec2 size);

// "17 split_channel".
[[nodiscard]] std::string node_text(const model::Graph& graph, std::uint32_t node);
// "step.cpp:12", or "barrier 3" where the source is unknown.
[[nodiscard]] std::string barrier_text(const model::Graph& graph, std::uint32_t barrier);
// "writes before reads".
[[nodiscard]] std::string access_text(const trace::Barrier& barrier);

}  // namespace reprise::viewer
