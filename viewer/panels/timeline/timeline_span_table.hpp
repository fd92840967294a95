// TimelineSpanTable: what ran in the selected span of a timeline, by kernel, label, graph, transfer
// or cause of waiting. Summed in the background. Threads: the drawing thread's.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "model/span_summary.hpp"
#include "panels/shared/async_value.hpp"
#include "panels/timeline/timeline_draw_context.hpp"

namespace reprise::viewer {

enum class SpanView : std::uint8_t { Kernels, Labels, Graphs, Transfers, Waits, Gaps };

class TimelineSpanTable {
 public:
  explicit TimelineSpanTable(Background& background) : summary_(background) {}

  // Draws the totals of a span and the choice of a view. Then draws the table of the chosen view,
  // except of the gaps: returns true if the caller draws these.
  [[nodiscard]] bool draw(const TimelineDrawContext& dc,
                          const std::shared_ptr<const model::Activity>& activity,
                          model::SelectedSpan span);

 private:
  struct Key {
    std::shared_ptr<const model::Activity> activity;
    model::SelectedSpan span;
    model::RowsBy by = model::RowsBy::Lane;
    friend bool operator==(const Key&, const Key&) = default;
  };

  AsyncValue<Key, model::SpanSummary> summary_;
  SpanView view_ = SpanView::Kernels;
};

}  // namespace reprise::viewer
