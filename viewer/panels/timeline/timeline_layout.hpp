// TimelineLayout: the rows of a timeline and their positions, from the top: host threads with
// nested ranges and launches; the idle time of each device and the replays of each queue; each
// graph with its replays and nodes, and the labels of the shown graph. With several ranks, each has
// a row with the replays of all its queues, and below it the nodes of the graph that runs the
// collectives of the shown one, or, if it is open, all rows above. Threads, queues and graphs
// with nothing in or near the visible part have no rows, except for the shown graph. Performs no
// drawing. Threads: pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "panels/shared/panel_context.hpp"
#include "panels/timeline/timeline_data.hpp"

namespace reprise::viewer {

// The order of threads, queues, graphs, and lanes or workers within their section.
enum class RowOrder : std::uint8_t { Name, BusyTime, FirstUse };

enum class TimelineSection : std::uint8_t { None, Host, Device, Graphs, Nodes, Labels };

struct TimelineRow {
  enum class Kind : std::uint8_t {
    Title,
    Rank,
    Folded,  // represents the ranks without rows of their own
    Ranges,
    Launches,
    Idle,
    Queue,
    Replays,
    Active,  // the number of busy lanes or workers
    Nodes,
    Labels
  };
  Kind kind = Kind::Title;
  TimelineSection section = TimelineSection::None;  // of a Title
  // rank (index), thread, device, queue, lane or worker; for Title: session or device
  std::uint32_t id = 0;
  std::uint32_t level = 0;  // depth of ranges; sub-row of nodes or labels
  model::GraphKey graph;    // for Replays, Active, Nodes and Labels
  std::string label;        // empty: continues the row above
  std::string detail = {};  // for Title and Folded; for Rank: its process
  float top = 0, height = 0;
  bool folds = false;    // a click on the name shows or hides rows
  bool is_open = false;  // these rows are shown
};

struct TimelineLayout {
  std::vector<TimelineRow> rows;
  float height = 0;  // of all rows
  // Null if the layout has no such row.
  [[nodiscard]] const TimelineRow* find(TimelineRow::Kind kind, std::uint32_t id,
                                        std::uint32_t level, model::GraphKey graph = {}) const;
};

// The number of rows that the nodes of each lane or worker need, over all scenes seen so far. Rows
// are added, never removed, so that they do not jump.
class TimelineLevels {
 public:
  // Forgets all rows if `by` or the trace changes.
  void reset(const model::SampleStore* trace, model::RowsBy by);
  void add(model::GraphKey graph, const TimelineScene& scene);
  // Rows by lane or worker. Before a scene of the graph was seen: one row for each lane.
  [[nodiscard]] std::map<std::uint32_t, std::uint32_t> of(const model::GraphEntry& entry) const;

 private:
  const model::SampleStore* trace_ = nullptr;
  model::RowsBy by_ = model::RowsBy::Lane;
  std::map<model::GraphKey, std::map<std::uint32_t, std::uint32_t>> levels_;
};

// The user's changes to rows: opened or closed by a click on a name, and resized.
struct TimelineOpened {
  // Graphs whose node rows are shown or hidden; others: shown if the graph is the shown one or few
  // graphs were replayed.
  std::map<model::GraphKey, bool> graphs;
  std::set<std::uint32_t> ranks;  // indices; all their rows are shown
  bool folded = false;            // the folded ranks have rows
  std::set<std::pair<TimelineSection, std::uint32_t>> closed_sections = {};  // and TimelineRow::id
  std::set<std::uint32_t> closed_threads = {};  // only their outermost ranges are shown
  // Height of all rows of a kind and graph, before the display scale.
  std::map<std::pair<TimelineRow::Kind, model::GraphKey>, float> heights = {};
};
inline constexpr float kMinRowHeight = 10, kMaxRowHeight = 160;  // of resized rows

struct TimelineLayoutDesc {
  const PanelContext& context;
  const TimelineLevels& levels;
  const model::Activity& activity;
  const TimelineRanks& ranks;
  const TimelineScene* shown = nullptr;  // null: no nodes
  const HostRows* host = nullptr;
  TimelineOpened opened = {};
  model::RowsBy by = model::RowsBy::Lane;
  RowOrder order = RowOrder::Name;
  double min_length = 0;         // ns; a graph with shorter replays has no rows of nodes
  trace::Time from = 0, to = 0;  // the visible part; to = 0: all
  float available_height = 0;    // rows grow up to a maximum to fill it
};
[[nodiscard]] TimelineLayout make_timeline_layout(const TimelineLayoutDesc& desc);

}  // namespace reprise::viewer
