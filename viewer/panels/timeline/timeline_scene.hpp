// TimelineScene: the nodes of one replay in rows, why each row was empty where it was, and where a
// node stands. Draws nothing. Threads: pure functions, for the background; values that many may
// read.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "model/gaps.hpp"
#include "model/replay_times.hpp"
#include "model/sample_store.hpp"
#include "model/timeline_rows.hpp"

namespace reprise::viewer {

// When the nodes below a label ran: from the first that started to the last that ended.
struct TimelineLabel {
  std::uint32_t label = 0, row = 0;
  std::uint32_t nodes = 0;  // measured ones
  trace::Time began = 0, ended = 0;
};

struct TimelineScene {
  trace::Replay replay;
  model::SampleStore::Block block;  // never null
  model::TimelineRows rows;         // items by row, then start
  model::ReplayTimes times;
  std::vector<model::Gap> gaps;                  // by row, then time
  std::vector<std::size_t> row_items, row_gaps;  // where a row's begin, and the end
  std::vector<std::uint32_t> items_of;           // a node each: its first item; kNone without one
  std::vector<TimelineLabel>
      labels;  // outer ones above inner ones; by row, then begin; those of a row do not overlap
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

// How much of the time of all rows is empty, and why, in ns.
struct GapSums {
  double predecessor = 0, false_dependency = 0, bubble = 0;
};
[[nodiscard]] GapSums sum_of(std::span<const model::Gap> gaps);

}  // namespace reprise::viewer
