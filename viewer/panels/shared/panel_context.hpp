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
#include "model/replay_statistics.hpp"
#include "model/replay_times.hpp"
#include "panels/shared/async_value.hpp"
#include "panels/shared/theme.hpp"
#include "panels/shared/view_state.hpp"

namespace reprise::viewer {

// Statistics of the shown graph over the selected range of replays, or over all replays.
struct GraphViewModel {
  struct Node : model::NodeFigures {
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
  // Of the range. A long live session drops samples of older replays.
  std::size_t sampled_replays = 0, read_replays = 0;
  std::shared_ptr<const model::GraphStatistics> statistics;  // of the same samples; can be null
  // Min and max over nodes with samples that run no bodies. min, max: of medians, ns.
  double min = 0, max = 0;
  double min_p99 = 0, max_p99 = 0, max_share = 0, max_slack = 0;
};

enum class RateOver : std::uint8_t { Range, LastSecond };
// Figures of the replays of the selected range.
struct ReplaySummary {
  model::ReplayStatistics device_time, launch_call, launch_latency;
  std::size_t replays = 0, sampled = 0;
  double per_second = 0;  // 0: unknown, or the range selects durations
  RateOver rate = RateOver::Range;
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
  const ReplaySummary* summary;      // null: not ready
  const ReplayViewModel* replay;     // null: no replay, or not ready
  // By node index: 1 if the filter matches the node. Empty: no filter.
  const std::vector<std::uint8_t>& matches;
  const std::shared_ptr<const model::Document>& other;  // comparison document; null: none
  const std::string& name;                              // trace file or live session
  const std::string& other_name;
  bool is_live;
  // What the trace lacks and why, a sentence per line; empty if nothing is known to be missing.
  const std::string& incomplete;
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
