// TimelineLayout: the rows of a timeline and their positions, from the top: host threads with
// launches and nested ranges, the replays of each graph, the lanes or workers of the shown graph,
// and its labels. Performs no drawing. Threads: pure functions.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "panels/shared/panel_context.hpp"
#include "panels/timeline/timeline_data.hpp"

namespace reprise::viewer {

struct TimelineRow {
  enum class Kind : std::uint8_t { Title, Launches, Ranges, Replays, Nodes, Labels };
  Kind kind = Kind::Title;
  std::uint32_t id = 0;     // thread, lane or worker
  std::uint32_t level = 0;  // depth of ranges; sub-row of nodes or labels
  model::GraphKey graph;    // for Replays
  std::string label;        // empty: continues the row above
  std::string detail = {};  // for Title
  float top = 0, height = 0;
};

struct TimelineLayout {
  std::vector<TimelineRow> rows;
  float height = 0;  // of all rows
  // Null if the layout has no such row.
  [[nodiscard]] const TimelineRow* find(TimelineRow::Kind kind, std::uint32_t id,
                                        std::uint32_t level) const;
  [[nodiscard]] const TimelineRow* find(model::GraphKey replays) const;
};

struct TimelineLayoutDesc {
  const PanelContext& context;
  const TimelineScene* shown = nullptr;  // null: no nodes
  const TimelineData::Scenes* adjacent = nullptr;
  const HostRows* host = nullptr;
  std::set<std::uint32_t> threads = {};   // threads with visible launches
  std::set<model::GraphKey> graphs = {};  // graphs with visible replays
  model::RowsBy by = model::RowsBy::Lane;
  float available_height = 0;  // node rows grow up to a maximum to fill it
};
[[nodiscard]] TimelineLayout make_timeline_layout(const TimelineLayoutDesc& desc);

}  // namespace reprise::viewer
