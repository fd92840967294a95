// Timeline rows: assigns the samples of one replay to rows, grouped by lane or by worker. Each
// group gets as many rows as its samples overlap; a sample goes into the group's first free row.
// Threads: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/graph.hpp"

namespace reprise::model {

enum class RowsBy : std::uint8_t { Lane, Worker };

struct TimelineItem {
  std::uint32_t sample = 0;  // index in the block
  std::uint32_t node = 0, row = 0;
  trace::Time started = 0, ended = 0;
};

struct TimelineRow {
  std::uint32_t group = 0;  // lane or worker
  std::uint32_t level = 0;  // row within the group
};

struct TimelineRows {
  std::vector<TimelineRow> rows;    // by group, then level
  std::vector<TimelineItem> items;  // by start time; without untimed samples
};

// The name of a group of samples of this source: "lane 2", "stream 7", "multiprocessor 12".
[[nodiscard]] std::string row_group_name(RowsBy by, trace::SampleSource source,
                                         std::uint32_t group);

[[nodiscard]] TimelineRows timeline_rows(const Graph& graph, const trace::SampleBlock& block,
                                         RowsBy by);

}  // namespace reprise::model
