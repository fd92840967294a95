// TimelineData: what the timeline shows, made in the background: the scene of the shown replay, of
// those beside it, and the host ranges. Threads: the drawing thread's.
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

// A sampled replay to go to.
enum class ReplayChoice : std::uint8_t { Previous, Next, Median, Slowest };
// Its number; empty: there is none. `from`: the number to go on from. Of the chosen range; looks at
// every replay of it.
[[nodiscard]] std::optional<std::uint64_t> chosen_replay(
    const model::ListView<trace::Replay>& replays, model::ReplayRange range, ReplayChoice choice,
    std::uint64_t from);

class TimelineData {
 public:
  using Scene = std::shared_ptr<const TimelineScene>;
  using Scenes = std::map<std::uint64_t, Scene>;  // by replay

  explicit TimelineData(Background& background);

  void ask(const PanelContext& context, model::RowsBy by);
  // The replays beside the shown one whose nodes are in sight.
  void ask_beside(const PanelContext& context, model::RowsBy by,
                  std::vector<trace::Replay> replays);
  void choose(const PanelContext& context, ReplayChoice choice);
  // Once, when what was chosen is known: its number.
  [[nodiscard]] std::optional<std::uint64_t> take_choice();

  // Of Frame::replay, or, until it is there, of the replay before it; null: Frame::replay has no
  // samples, or not yet.
  [[nodiscard]] Scene shown() const;
  [[nodiscard]] std::shared_ptr<const Scenes> beside() const;  // never null
  [[nodiscard]] std::shared_ptr<const HostRows> host() const;  // never null

 private:
  struct SceneKey {
    std::shared_ptr<const model::Graph> graph;
    model::SampleStore::Block block;
    model::RowsBy by = model::RowsBy::Lane;
    friend bool operator==(const SceneKey&, const SceneKey&) = default;
  };
  struct BesideKey {
    std::shared_ptr<const model::Graph> graph;
    std::vector<std::uint64_t> replays;
    model::RowsBy by = model::RowsBy::Lane;
    friend bool operator==(const BesideKey&, const BesideKey&) = default;
  };
  struct Beside {
    BesideKey of;
    Scenes scenes;
  };
  struct HostKey {
    std::shared_ptr<const model::SampleStore> trace;  // one each trace
    std::size_t ranges = 0;
    friend bool operator==(const HostKey&, const HostKey&) = default;
  };
  struct HostBuilder {
    std::shared_ptr<const model::SampleStore> trace;
    HostRowsBuilder builder;
  };
  struct Made {
    SceneKey of;
    TimelineScene scene;
  };

  AsyncValue<SceneKey, Made> shown_;
  AsyncValue<BesideKey, Beside> beside_;
  AsyncValue<HostKey, HostRows> host_;
  AsyncValue<std::uint64_t, std::optional<std::uint64_t>> choice_;
  std::shared_ptr<HostBuilder> builder_;  // used by one piece of work at a time
  SceneKey wanted_;
  std::uint64_t choices_ = 0, taken_ = 0;
};

}  // namespace reprise::viewer
