// The tables of the sync panel: edges, barriers and findings. Sorting runs in the background; the
// last order is shown until the next is ready. Threads: the drawing thread's.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "panels/shared/panel_context.hpp"
#include "panels/sync/sync_order.hpp"
#include "panels/widgets/table_columns.hpp"

namespace reprise::viewer {

using SyncViewModelPointer = std::shared_ptr<const SyncViewModel>;

class EdgeTable {
 public:
  explicit EdgeTable(Background& background) : order_(background) {}
  void draw(PanelContext& context, const SyncViewModelPointer& view_model, const ShownGaps& gaps,
            const EdgeFilter& filter, ImVec2 size);
  // The number of rows of the last drawn table.
  [[nodiscard]] std::size_t row_count() const noexcept { return rows_; }

 private:
  struct Key {
    SyncViewModelPointer view_model;
    ShownGaps gaps;  // only those that the table is sorted by
    EdgeFilter filter;
    EdgeOrder order;
    std::vector<std::uint8_t> matches;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct Rows {
    SyncViewModelPointer view_model;  // of the edges
    std::vector<std::uint32_t> edges;
  };
  static void draw_row(PanelContext& context, const SyncViewModel& view_model,
                       const TableContents& contents, std::size_t row, std::uint32_t edge);

  AsyncValue<Key, Rows> order_;
  Key requested_;
  EdgeOrder sort_;
  model::Selection last_selection_;
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
  static void draw_row(PanelContext& context, const SyncViewModel& view_model,
                       const TableContents& contents, std::size_t row, std::uint32_t barrier);

  AsyncValue<Key, Rows> order_;
  Key requested_;
  BarrierOrder sort_;
  model::Selection last_selection_;
};

void draw_findings(PanelContext& context, const std::vector<Finding>& findings, ImVec2 size);

// "17 split_channel".
[[nodiscard]] std::string node_text(const model::Graph& graph, std::uint32_t node);
// "step.cpp:12", or "barrier 3" where the source is unknown.
[[nodiscard]] std::string barrier_text(const model::Graph& graph, std::uint32_t barrier);
// "writes before reads".
[[nodiscard]] std::string access_text(const trace::Barrier& barrier);

}  // namespace reprise::viewer
