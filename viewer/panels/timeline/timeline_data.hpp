// TimelineData: the data of the timeline, built in the background: the scenes of the shown replay
// and of other visible replays, the host ranges, the activity of queues and threads over the whole
// recording, and the ranks. Threads: the drawing thread's.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "model/activity.hpp"
#include "panels/shared/panel_context.hpp"
#include "panels/timeline/timeline_host.hpp"
#include "panels/timeline/timeline_ranks.hpp"
#include "panels/timeline/timeline_scene.hpp"

namespace reprise::viewer {

// Target of a navigation to another sampled replay.
enum class ReplayChoice : std::uint8_t { Previous, Next, Median, Slowest };
// The number of the chosen replay in `range`; empty if no sampled replay matches. `from`: the
// number of the current replay. Linear in the size of the range.
[[nodiscard]] std::optional<std::uint64_t> select_replay(
    const model::ListView<trace::Replay>& replays, model::ReplayRange range, ReplayChoice choice,
    std::uint64_t from);

class TimelineData {
 public:
  using Scene = std::shared_ptr<const TimelineScene>;
  struct ReplayKey {
    model::GraphKey graph;
    std::uint64_t replay = 0;
    friend auto operator<=>(const ReplayKey&, const ReplayKey&) = default;
  };
  using Scenes = std::map<ReplayKey, Scene>;

  explicit TimelineData(Background& background);

  // Requests the scene of PanelContext::replay, the host ranges, the activity and the ranks.
  void request(const PanelContext& context, model::RowsBy by);
  // Requests the scenes of visible replays of any graph other than the shown one.
  void request_others(const PanelContext& context, model::RowsBy by,
                      std::vector<trace::Replay> replays);
  // Starts a search for a replay; take_choice() returns the result.
  void choose(const PanelContext& context, ReplayChoice choice);
  // The result of the last choose(), once; empty while the search runs or if no replay was found.
  [[nodiscard]] std::optional<std::uint64_t> take_choice();

  // The scene of PanelContext::replay, or of the previous replay while it is being built; null if
  // PanelContext::replay has no samples.
  [[nodiscard]] Scene shown() const;
  [[nodiscard]] std::shared_ptr<const Scenes> others() const;             // never null
  [[nodiscard]] std::shared_ptr<const HostRows> host() const;             // never null
  [[nodiscard]] std::shared_ptr<const model::Activity> activity() const;  // never null
  // The ranks of the last request() for this trace; never null.
  [[nodiscard]] std::shared_ptr<const TimelineRanks> ranks() const { return shown_ranks_; }
  // The shown replay on all ranks, or the previous one while it is computed; never null.
  [[nodiscard]] std::shared_ptr<const RankReplay> rank_replay() const;

 private:
  struct SceneKey {
    std::shared_ptr<const model::Graph> graph;
    model::SampleStore::Block block;
    model::RowsBy by = model::RowsBy::Lane;
    friend bool operator==(const SceneKey&, const SceneKey&) = default;
  };
  struct OthersKey {
    std::shared_ptr<const model::SampleStore> trace;  // identifies the trace
    std::vector<ReplayKey> replays;
    model::RowsBy by = model::RowsBy::Lane;
    friend bool operator==(const OthersKey&, const OthersKey&) = default;
  };
  struct OtherScenes {
    OthersKey key;
    Scenes scenes;
  };
  struct HostKey {
    std::shared_ptr<const model::SampleStore> trace;  // identifies the trace
    std::size_t ranges = 0;
    friend bool operator==(const HostKey&, const HostKey&) = default;
  };
  struct ActivityKey {
    std::shared_ptr<const model::SampleStore> trace;
    std::uint64_t replays = 0;  // of all graphs, including dropped ones
    friend bool operator==(const ActivityKey&, const ActivityKey&) = default;
  };
  struct RanksKey {
    std::uint64_t revision = 0;
    model::GraphKey graph;
    std::shared_ptr<const model::Activity> activity;
    std::shared_ptr<const HostRows> host;
    friend bool operator==(const RanksKey&, const RanksKey&) = default;
  };
  struct RankReplayKey {
    std::shared_ptr<const TimelineRanks> ranks;
    std::uint64_t replay = 0;
    friend bool operator==(const RankReplayKey&, const RankReplayKey&) = default;
  };
  void request_ranks(const PanelContext& context);

  // Used by one background task at a time.
  struct HostBuilder {
    std::shared_ptr<const model::SampleStore> trace;
    HostRowsBuilder builder;
  };
  struct ActivityBuilder {
    std::shared_ptr<const model::SampleStore> trace;
    model::ActivityBuilder builder;
  };
  struct ShownScene {
    SceneKey key;
    TimelineScene scene;
  };

  AsyncValue<SceneKey, ShownScene> shown_;
  AsyncValue<OthersKey, OtherScenes> others_;
  AsyncValue<HostKey, HostRows> host_;
  AsyncValue<ActivityKey, model::Activity> activity_;
  AsyncValue<RanksKey, TimelineRanks> ranks_;
  AsyncValue<RankReplayKey, RankReplay> rank_replay_;
  AsyncValue<std::uint64_t, std::optional<std::uint64_t>> choice_;
  std::shared_ptr<HostBuilder> host_builder_;
  std::shared_ptr<ActivityBuilder> activity_builder_;
  SceneKey wanted_;
  std::shared_ptr<const TimelineRanks> shown_ranks_ = std::make_shared<const TimelineRanks>();
  std::shared_ptr<const model::SampleStore> ranks_trace_;  // of shown_ranks_
  std::uint64_t first_revision_ = 0;                       // seen of this trace
  // Arguments of the last request_others().
  std::shared_ptr<const model::SampleStore> others_trace_;
  model::RowsBy others_by_ = model::RowsBy::Lane;
  std::uint64_t choices_ = 0, taken_ = 0;
};

}  // namespace reprise::viewer
