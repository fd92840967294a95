#include "panels/replays/replays_ranks.hpp"

#include <algorithm>

#include "model/replay_statistics.hpp"

namespace reprise::viewer {

using trace::Time;

namespace {

// The times of a rank for the replays of `shown`, -1 where it has none.
std::vector<Time> times_of(const model::ListView<trace::Replay>& shown,
                           const model::ListView<trace::Replay>& rank) {
  std::vector<Time> times(shown.size(), -1);
  for (std::size_t i = 0, at = 0; i < shown.size(); ++i) {
    while (at < rank.size() && rank[at].replay < shown[i].replay) ++at;
    if (at < rank.size() && rank[at].replay == shown[i].replay)
      times[i] = model::measure(rank[at], model::ReplayMeasure::DeviceTime);
  }
  return times;
}

ReplaySeries series_of(const std::vector<Time>& times) {
  ReplaySeriesBuilder builder(ReplayValue::DeviceTime);
  for (const Time time : times) builder.push_back(time);
  return builder.series();
}

}  // namespace

RankSeries make_rank_series(const model::Document& document, model::GraphKey shown) {
  RankSeries all;
  all.graph = shown;
  const std::vector<model::RankGraph> graphs = model::matching_graphs(document, shown);
  if (graphs.size() < 2) return all;
  const auto& replays = document.find(shown)->replays;
  const auto lines = model::latest_to_arrive(graphs, shown, kMaxRankLines);
  all.min.resize(replays.size());
  all.max.resize(replays.size());
  std::vector<Time> low(replays.size(), -1), high(replays.size(), -1);
  for (std::size_t g = 0; g < graphs.size(); ++g) {
    const std::uint32_t session = graphs[g].session;
    const std::vector<Time> times = times_of(replays, document.find(graphs[g].graph)->replays);
    const bool is_line = std::binary_search(lines.begin(), lines.end(), g);
    for (std::size_t i = 0; i < times.size(); ++i) {
      const Time time = times[i];
      if (time < 0) continue;
      if (all.min[i].time < 0 || time < all.min[i].time) all.min[i] = {session, time};
      if (time > all.max[i].time) all.max[i] = {session, time};
      if (is_line) continue;
      if (low[i] < 0 || time < low[i]) low[i] = time;
      high[i] = std::max(high[i], time);
    }
    if (is_line) {
      all.lines.push_back(
          {session, document.rank_name(session), series_of(times), graphs[g].graph == shown});
    }
  }
  all.others = graphs.size() - all.lines.size();
  if (all.others != 0) {
    all.low = series_of(low);
    all.high = series_of(high);
  }
  return all;
}

}  // namespace reprise::viewer
