// Rows of a timeline: the samples of one replay by lane or by worker, as many rows for each as it
// takes for none to overlap another. A row is used again as soon as it is free; an item goes into
// the first free one. Threads: a pure function.
#pragma once

#include <cstdint>
#include <vector>

#include "model/graph.hpp"

namespace reprise::model {

enum class RowsBy : std::uint8_t { Lane, Worker };

struct TimelineItem {
  std::uint32_t sample = 0;  // in the block
  std::uint32_t node = 0, row = 0;
  trace::Time started = 0, ended = 0;
};

struct TimelineRow {
  std::uint32_t group = 0;  // lane or worker
  std::uint32_t level = 0;  // 0 for a group's first row
};

struct TimelineRows {
  std::vector<TimelineRow> rows;    // by group, level
  std::vector<TimelineItem> items;  // by start; samples without a time are left out
};

[[nodiscard]] TimelineRows timeline_rows(const Graph& graph, const trace::SampleBlock& block,
                                         RowsBy by);

}  // namespace reprise::model
