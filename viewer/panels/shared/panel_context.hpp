// Frame: what every panel is given each time it draws: const facts, made in the background, and the
// one state that it may change. Anything that is not there yet is null, and the panel says what it
// waits for. Threads: the drawing thread's; facts are values.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "model/critical_path.hpp"
#include "model/document.hpp"
#include "model/replay_times.hpp"
#include "panels/shared/async_value.hpp"
#include "panels/shared/view_state.hpp"
#include "panels/widgets/theme.hpp"

namespace reprise::viewer {

// Numbers of the shown graph over the chosen range of replays (over everything, where no range is
// chosen).
struct GraphViewModel {
  struct Node {
    std::uint64_t count = 0, lost = 0;  // samples with and without a time
    double median = 0, p10 = 0, p90 = 0, p99 = 0, mean = 0, least = 0,
           greatest = 0;       // ns; 0 without a sample
    double share = 0;          // of the time of all nodes, 0 to 1
    double slack = 0;          // ns, by medians
    bool is_critical = false;  // on the path below
  };
  model::GraphKey key;
  std::uint64_t revision = 0;      // of the document that they were made from
  std::vector<Node> nodes;         // a node each
  std::vector<double> medians;     // the same, as the model takes durations
  model::CriticalPath path;        // by medians
  std::uint64_t samples = 0;       // 0: nothing was measured, and every time above is 0
  double least = 0, greatest = 0;  // median of the nodes that have one, ns
  double least_p99 = 0, greatest_p99 = 0, greatest_share = 0,
         greatest_slack = 0;  // of the same nodes
};

// The replay that is shown in detail.
struct ReplayViewModel {
  trace::Replay replay;
  model::SampleStore::Block block;  // null: no samples
  model::ReplayTimes times;
  model::CriticalPath path;  // measured, of this replay
};

struct PanelContext {
  const std::shared_ptr<const model::Document>& document;  // never null
  const model::GraphEntry* entry;    // the shown graph; null: the document has none
  const GraphViewModel* view_model;  // null: not yet
  const ReplayViewModel* replay;     // null: none, or not yet
  const std::vector<std::uint8_t>&
      matches;  // a node each, 1 where the filter lets it pass; empty: no filter
  const std::shared_ptr<const model::Document>& other;  // to compare with; null: none
  const std::string& name;  // of the document: its file, or the live session
  const std::string& other_name;
  bool is_live;
  ViewState& view;
  const Theme& theme;
  Background& background;

  [[nodiscard]] const model::Graph* graph() const noexcept {
    return entry ? entry->graph.get() : nullptr;
  }
  [[nodiscard]] bool passes(std::uint32_t node) const {
    return matches.empty() || matches[node] != 0;
  }
};

}  // namespace reprise::viewer
