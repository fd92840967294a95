// ReplaysData: the series and statistics that the replays panel shows. Workers compute them as the
// document grows; the previous result stays visible until the next one is ready. Threads: drawing
// thread only.
#pragma once

#include <memory>
#include <optional>

#include "panels/replays/replays_ranks.hpp"
#include "panels/replays/replays_view_model.hpp"
#include "panels/shared/panel_context.hpp"

namespace reprise::viewer {

using GraphPointer = std::shared_ptr<const model::Graph>;

struct ReplaysSeries {
  GraphPointer graph;
  model::ListView<trace::Replay> replays;
  ReplaySeries main;  // device time, or the launch call if no replay has a device time
  ReplaySeries latency, gap;
};

struct OverallSummary {
  SeriesSummary main, latency, gap;
};

// A value of one graph and its computation time, which limits the update rate of live documents.
template <class Value>
struct TimedValue {
  GraphPointer graph;
  Value value;
  double seconds = 0;
};

class ReplaysData {
 public:
  explicit ReplaysData(Background& background);

  // Strip: only series and overall summary. All: also the bins of the range.
  enum class Detail { Strip, All };
  // Requests the data of the shown graph: the bins of the range in the view, and matches() of
  // its indices with `durations`.
  void request(const PanelContext& context, Detail detail,
               const std::optional<model::DurationBounds>& durations);

  // Results for the graph of the last request; null: not ready.
  [[nodiscard]] std::shared_ptr<const ReplaysSeries> series() const;
  [[nodiscard]] std::shared_ptr<const OverallSummary> overall() const { return value(overall_); }
  [[nodiscard]] std::shared_ptr<const DurationBins> bins() const { return value(bins_); }
  [[nodiscard]] std::shared_ptr<const Matches> matches() const {
    return wants_matches_ ? value(matches_) : nullptr;
  }
  // Null also if no other rank runs the graph.
  [[nodiscard]] std::shared_ptr<const RankSeries> ranks() const;

 private:
  struct SeriesKey {
    GraphPointer graph;
    std::size_t size = 0;
    std::uint64_t last = 0;  // number of the last replay
    friend bool operator==(const SeriesKey&, const SeriesKey&) = default;
  };
  struct ViewModelKey {
    std::shared_ptr<const ReplaysSeries> series;
    model::ReplayRange range;
    friend bool operator==(const ViewModelKey&, const ViewModelKey&) = default;
  };
  struct RanksKey {
    std::uint64_t revision = 0;  // of the document
    model::GraphKey graph;
    friend bool operator==(const RanksKey&, const RanksKey&) = default;
  };
  struct Builders;
  template <class Value>
  using ViewModel = AsyncValue<ViewModelKey, TimedValue<Value>>;

  template <class Value, class Make>
  void request(ViewModel<Value>& view_model, double& requested_at, const PanelContext& context,
               const ViewModelKey& key, Make make) const;
  template <class Value>
  [[nodiscard]] std::shared_ptr<const Value> value(const ViewModel<Value>& view_model) const {
    const auto result = view_model.value();
    return result && result->graph == graph_ ? std::shared_ptr<const Value>(result, &result->value)
                                             : nullptr;
  }

  AsyncValue<SeriesKey, ReplaysSeries> series_;
  ViewModel<OverallSummary> overall_;
  ViewModel<DurationBins> bins_;
  ViewModel<Matches> matches_;
  AsyncValue<RanksKey, RankSeries> ranks_;
  std::shared_ptr<Builders> builders_;  // used by one work item at a time
  GraphPointer graph_;
  model::ReplayRange selected_, matched_;  // of the last requests
  // ImGui times of the last requests.
  double overall_requested_ = -1e9, bins_requested_ = -1e9, matches_requested_ = -1e9,
         ranks_requested_ = -1e9;
  bool wants_matches_ = false, has_ranks_ = false;
};

}  // namespace reprise::viewer
