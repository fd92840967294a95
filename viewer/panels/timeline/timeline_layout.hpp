// Which rows a timeline has, from the top: host threads with their launches and nested ranges, the
// replays of each graph, the lanes or workers of the shown graph, and its labels; and where each
// stands. Draws nothing. Threads: pure functions.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "panels/shared/panel_context.hpp"
#include "panels/timeline/timeline_data.hpp"

namespace reprise::viewer {

struct TimelineRow {
  enum class Of : std::uint8_t { Title, Launches, Ranges, Replays, Nodes, Labels };
  Of of = Of::Title;
  std::uint32_t id = 0;     // thread; lane or worker
  std::uint32_t level = 0;  // depth of ranges; the row of a group of nodes, or of labels
  model::GraphKey graph;    // of Replays
  std::string label;        // empty: of the row above
  std::string detail = {};  // of a title
  float top = 0, height = 0;
};

struct TimelineLayout {
  std::vector<TimelineRow> rows;
  float height = 0;  // of all
  // Null: there is none.
  [[nodiscard]] const TimelineRow* find(TimelineRow::Of of, std::uint32_t id,
                                        std::uint32_t level) const;
  [[nodiscard]] const TimelineRow* find(model::GraphKey replays) const;
};

struct TimelineLayoutDesc {
  const PanelContext& context;
  const TimelineScene* shown = nullptr;  // null: no nodes
  const TimelineData::Scenes* beside = nullptr;
  const HostRows* host = nullptr;
  std::set<std::uint32_t> threads = {};   // that launch something in sight
  std::set<model::GraphKey> graphs = {};  // that have a replay in sight
  model::RowsBy by = model::RowsBy::Lane;
  float room = 0;  // height that there is: rows of nodes grow into it, to a point
};
[[nodiscard]] TimelineLayout make_timeline_layout(const TimelineLayoutDesc& desc);

}  // namespace reprise::viewer
