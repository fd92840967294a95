// PanelContext: the input of every panel in a frame. It holds const view models, which workers
// compute, and the one mutable ViewState. A view model that is not ready is null; the panel then
// shows a placeholder. Threads: drawing thread only; view models are immutable.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "model/critical_path.hpp"
#include "model/document.hpp"
#include "model/replay_times.hpp"
#include "panels/shared/async_value.hpp"
#include "panels/shared/theme.hpp"
#include "panels/shared/view_state.hpp"

namespace reprise::viewer {

// Statistics of the shown graph over the selected range of replays, or over all replays.
struct GraphViewModel {
  struct Node {
    std::uint64_t count = 0, lost = 0;  // samples with and without a time
    // ns; 0 without samples
    double median = 0, p10 = 0, p90 = 0, p99 = 0, mean = 0, min = 0, max = 0;
    double share = 0;          // see model::node_shares()
    double slack = 0;          // ns, from medians
    bool is_critical = false;  // lies on `path`
    bool runs_bodies = false;  // its time, the sum of all iterations, has no colour
  };
  model::GraphKey key;
  std::uint64_t revision = 0;   // revision of the source document
  std::vector<Node> nodes;      // by node index
  std::vector<double> medians;  // nodes[i].median, as model functions take durations
  model::CriticalPath path;     // from medians
  std::uint64_t samples = 0;    // 0: nothing was measured, and all times above are 0
  // Sampled replays of the range, and how many of them were read; see kMaxBlocks.
  std::size_t sampled_replays = 0, read_replays = 0;
  // Min and max over nodes with samples that run no bodies. min, max: of medians, ns.
  double min = 0, max = 0;
  double min_p99 = 0, max_p99 = 0, max_share = 0, max_slack = 0;
};

// The replay shown in detail.
struct ReplayViewModel {
  trace::Replay replay;
  model::SampleStore::Block block;  // null: no samples
  model::ReplayTimes times;
  model::CriticalPath path;  // from the times of this replay
};

struct PanelContext {
  const std::shared_ptr<const model::Document>& document;  // never null
  const model::GraphEntry* entry;    // the shown graph; null: the document has no graph
  const GraphViewModel* view_model;  // null: not ready
  const ReplayViewModel* replay;     // null: no replay, or not ready
  // By node index: 1 if the filter matches the node. Empty: no filter.
  const std::vector<std::uint8_t>& matches;
  const std::shared_ptr<const model::Document>& other;  // comparison document; null: none
  const std::string& name;                              // trace file or live session
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
