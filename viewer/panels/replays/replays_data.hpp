// ReplaysData: what the panel of replays shows, made in the background and kept up with a document
// that grows: the last result stays until the next one is there. Threads: the drawing thread's.
#pragma once

#include <memory>
#include <optional>

#include "panels/replays/replays_histogram.hpp"
#include "panels/replays/replays_view_model.hpp"
#include "panels/shared/panel_context.hpp"

namespace reprise::viewer {

using GraphPointer = std::shared_ptr<const model::Graph>;

struct ReplaysSeries {
  GraphPointer graph;
  model::ListView<trace::Replay> replays;
  ReplaySeries main;  // device time, or the launch call where the device has none
  ReplaySeries latency, gap;
};

struct AllFigures {
  SeriesFigures main, latency, gap;
};

// A value of one graph, and what it cost to make, so that a stream of documents does not keep a
// thread busy.
template <class Value>
struct MadeOf {
  GraphPointer graph;
  Value value;
  double seconds = 0;
};

class ReplaysData {
 public:
  explicit ReplaysData(Background& background);

  // Which parts are needed: those of the strip alone, or all.
  enum class Detail { Strip, All };
  void ask(const PanelContext& context, Detail detail,
           const std::optional<DurationRange>& durations);

  // Of the graph that was asked for last; null: not yet.
  [[nodiscard]] std::shared_ptr<const ReplaysSeries> series() const;
  [[nodiscard]] std::shared_ptr<const AllFigures> overall() const { return value(overall_); }
  [[nodiscard]] std::shared_ptr<const RangeViewModel> range() const { return value(range_); }
  [[nodiscard]] std::shared_ptr<const Matches> matches() const {
    return wants_matches_ ? value(matches_) : nullptr;
  }

 private:
  struct SeriesKey {
    GraphPointer graph;
    std::size_t size = 0;
    std::uint64_t last = 0;  // number of the last replay
    friend bool operator==(const SeriesKey&, const SeriesKey&) = default;
  };
  struct ViewModelKey {
    std::shared_ptr<const ReplaysSeries> series;
    std::size_t first = 0, count = 0;
    DurationRange durations;
    friend bool operator==(const ViewModelKey&, const ViewModelKey&) = default;
  };
  struct Builders;
  template <class Value>
  using ViewModel = AsyncValue<ViewModelKey, MadeOf<Value>>;

  template <class Value, class Make>
  void ask(ViewModel<Value>& view_model, double& asked_at, const PanelContext& context,
           const ViewModelKey& key, Make make) const;
  template <class Value>
  [[nodiscard]] std::shared_ptr<const Value> value(const ViewModel<Value>& view_model) const {
    const auto made = view_model.value();
    return made && made->graph == graph_ ? std::shared_ptr<const Value>(made, &made->value)
                                         : nullptr;
  }

  AsyncValue<SeriesKey, ReplaysSeries> series_;
  ViewModel<AllFigures> overall_;
  ViewModel<RangeViewModel> range_;
  ViewModel<Matches> matches_;
  std::shared_ptr<Builders> builders_;  // used by one piece of work at a time
  GraphPointer graph_;
  model::ReplayRange chosen_;
  double overall_asked_ = -1e9, range_asked_ = -1e9, matches_asked_ = -1e9;
  DurationRange durations_;
  bool wants_matches_ = false;
};

}  // namespace reprise::viewer
