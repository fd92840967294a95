// TimelineData: the data of the timeline, built in the background: the scenes of the shown replay
// and of adjacent replays, and the host ranges. Threads: the drawing thread's.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "panels/shared/panel_context.hpp"
#include "panels/timeline/timeline_host.hpp"
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
  using Scenes = std::map<std::uint64_t, Scene>;  // by replay

  explicit TimelineData(Background& background);

  // Requests the scene of PanelContext::replay and the host ranges.
  void request(const PanelContext& context, model::RowsBy by);
  // Requests the scenes of visible replays other than the shown one.
  void request_adjacent(const PanelContext& context, model::RowsBy by,
                        std::vector<trace::Replay> replays);
  // Starts a search for a replay; take_choice() returns the result.
  void choose(const PanelContext& context, ReplayChoice choice);
  // The result of the last choose(), once; empty while the search runs or if no replay was found.
  [[nodiscard]] std::optional<std::uint64_t> take_choice();

  // The scene of PanelContext::replay, or of the previous replay while it is being built; null if
  // PanelContext::replay has no samples.
  [[nodiscard]] Scene shown() const;
  [[nodiscard]] std::shared_ptr<const Scenes> adjacent() const;  // never null
  [[nodiscard]] std::shared_ptr<const HostRows> host() const;    // never null

 private:
  struct SceneKey {
    std::shared_ptr<const model::Graph> graph;
    model::SampleStore::Block block;
    model::RowsBy by = model::RowsBy::Lane;
    friend bool operator==(const SceneKey&, const SceneKey&) = default;
  };
  struct AdjacentKey {
    std::shared_ptr<const model::Graph> graph;
    std::vector<std::uint64_t> replays;
    model::RowsBy by = model::RowsBy::Lane;
    friend bool operator==(const AdjacentKey&, const AdjacentKey&) = default;
  };
  struct AdjacentScenes {
    AdjacentKey key;
    Scenes scenes;
  };
  struct HostKey {
    std::shared_ptr<const model::SampleStore> trace;  // identifies the trace
    std::size_t ranges = 0;
    friend bool operator==(const HostKey&, const HostKey&) = default;
  };
  struct HostBuilder {
    std::shared_ptr<const model::SampleStore> trace;
    HostRowsBuilder builder;
  };
  struct ShownScene {
    SceneKey key;
    TimelineScene scene;
  };

  AsyncValue<SceneKey, ShownScene> shown_;
  AsyncValue<AdjacentKey, AdjacentScenes> adjacent_;
  AsyncValue<HostKey, HostRows> host_;
  AsyncValue<std::uint64_t, std::optional<std::uint64_t>> choice_;
  std::shared_ptr<HostBuilder> builder_;  // used by one background task at a time
  SceneKey wanted_;
  std::uint64_t choices_ = 0, taken_ = 0;
};

}  // namespace reprise::viewer
