// ReplaysData: what the panel of replays shows, made in the background and kept up with a document that grows: the last result stays until
// the next one is there. Threads: the drawing thread's.
#pragma once

#include <memory>
#include <optional>

#include "panels/frame.hpp"
#include "panels/replays_facts.hpp"
#include "panels/replays_histogram.hpp"

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

// A value of one graph, and what it cost to make, so that a stream of documents does not keep a thread busy.
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
  void ask(const Frame& frame, Detail detail, const std::optional<DurationRange>& durations);

  // Of the graph that was asked for last; null: not yet.
  [[nodiscard]] std::shared_ptr<const ReplaysSeries> series() const;
  [[nodiscard]] std::shared_ptr<const AllFigures> overall() const { return value(overall_); }
  [[nodiscard]] std::shared_ptr<const RangeFacts> range() const { return value(range_); }
  [[nodiscard]] std::shared_ptr<const Matches> matches() const { return wants_matches_ ? value(matches_) : nullptr; }

 private:
  struct SeriesKey {
    GraphPointer graph;
    std::size_t size = 0;
    std::uint64_t last = 0;  // number of the last replay
    friend bool operator==(const SeriesKey&, const SeriesKey&) = default;
  };
  struct FactsKey {
    std::shared_ptr<const ReplaysSeries> series;
    std::size_t first = 0, count = 0;
    DurationRange durations;
    friend bool operator==(const FactsKey&, const FactsKey&) = default;
  };
  struct Builders;
  template <class Value>
  using Facts = Latest<FactsKey, MadeOf<Value>>;

  template <class Value, class Make>
  void ask(Facts<Value>& facts, double& asked_at, const Frame& frame, const FactsKey& key, Make make) const;
  template <class Value>
  [[nodiscard]] std::shared_ptr<const Value> value(const Facts<Value>& facts) const {
    const auto made = facts.value();
    return made && made->graph == graph_ ? std::shared_ptr<const Value>(made, &made->value) : nullptr;
  }

  Latest<SeriesKey, ReplaysSeries> series_;
  Facts<AllFigures> overall_;
  Facts<RangeFacts> range_;
  Facts<Matches> matches_;
  std::shared_ptr<Builders> builders_;  // used by one piece of work at a time
  GraphPointer graph_;
  model::ReplayRange chosen_;
  double overall_asked_ = -1e9, range_asked_ = -1e9, matches_asked_ = -1e9;
  DurationRange durations_;
  bool wants_matches_ = false;
};

}  // namespace reprise::viewer
