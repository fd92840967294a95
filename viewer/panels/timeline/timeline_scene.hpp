// TimelineScene: the nodes of one replay in rows, with gaps and label spans. Performs no drawing.
// Threads: pure functions for the background; immutable values.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "model/busy_time.hpp"
#include "model/gaps.hpp"
#include "model/replay_times.hpp"
#include "model/sample_store.hpp"
#include "model/timeline_rows.hpp"

namespace reprise::viewer {

// Span of a label: from the first start to the last end of its nodes.
struct TimelineLabel {
  std::uint32_t label = 0, row = 0;
  std::uint32_t nodes = 0;  // measured nodes
  trace::Time started = 0, ended = 0;
};

struct TimelineScene {
  trace::Replay replay;
  model::SampleStore::Block block;  // never null
  model::TimelineRows rows;         // items by row, then start
  model::ReplayTimes times;
  std::vector<model::Gap> gaps;                  // by row, then time
  std::vector<std::size_t> row_items, row_gaps;  // offsets per row, plus the end
  std::vector<std::uint32_t> items_of;           // per node: its first item or kNone
  std::vector<model::BusyTime> row_busy;         // per row
  std::map<std::uint32_t, model::BusyTime> groups;  // per lane or worker, over all its rows
  // How many lanes or workers are busy; of a single one, how many of its rows.
  model::BusyTime active;
  // Outer labels above inner ones; by row, then start; disjoint within a row.
  std::vector<TimelineLabel> labels;
  std::uint32_t label_rows = 0;
  std::uint32_t unmeasured = 0;  // nodes without a time

  [[nodiscard]] std::span<const model::TimelineItem> items(std::size_t row) const {
    return std::span(rows.items).subspan(row_items[row], row_items[row + 1] - row_items[row]);
  }
  [[nodiscard]] std::span<const model::Gap> row_of_gaps(std::size_t row) const {
    return std::span(gaps).subspan(row_gaps[row], row_gaps[row + 1] - row_gaps[row]);
  }
};

[[nodiscard]] TimelineScene make_timeline_scene(const model::Graph& graph,
                                                const trace::Replay& replay,
                                                model::SampleStore::Block block, model::RowsBy by);

// Total gap time of all rows by kind, in ns.
struct GapSums {
  double predecessor = 0, false_dependency = 0, bubble = 0;
};
[[nodiscard]] GapSums sum_of(std::span<const model::Gap> gaps);

}  // namespace reprise::viewer
