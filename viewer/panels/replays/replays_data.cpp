#include "panels/replays/replays_data.hpp"

#include <chrono>
#include <utility>

namespace reprise::viewer {

namespace {

constexpr std::size_t kBins = 80;
// Maximum fraction of one worker's time for recomputing statistics of a growing trace.
constexpr double kMaxWorkerShare = 0.1;
// Minimum time between series of the ranks of a growing trace.
constexpr double kRanksRefreshSeconds = 1;

}  // namespace

struct ReplaysData::Builders {
  GraphPointer graph;
  ReplaySeriesBuilder device{ReplayValue::DeviceTime}, launch{ReplayValue::LaunchCall},
      latency{ReplayValue::Latency}, gap{ReplayValue::Gap};
};

ReplaysData::ReplaysData(Background& background)
    : series_(background),
      overall_(background),
      bins_(background),
      matches_(background),
      ranks_(background),
      builders_(std::make_shared<Builders>()) {}

template <class Value, class Make>
void ReplaysData::request(ViewModel<Value>& view_model, double& requested_at,
                          const PanelContext& context, const ViewModelKey& key, Make make) const {
  const double now = ImGui::GetTime();
  const auto last = view_model.value();
  if (context.is_live && last && last->graph == graph_ &&
      now < requested_at + last->seconds / kMaxWorkerShare)
    return;
  requested_at = now;
  view_model.ask(key, [series = key.series, make = std::move(make)] {
    const auto start = std::chrono::steady_clock::now();
    TimedValue<Value> result{series->graph, make(*series), 0};
    result.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return result;
  });
}

void ReplaysData::request(const PanelContext& context, Detail detail,
                          const std::optional<model::DurationBounds>& durations) {
  const model::ListView<trace::Replay>& replays = context.entry->replays;
  graph_ = context.entry->graph;
  wants_matches_ = durations.has_value();
  has_ranks_ = context.document->has_ranks();
  if (replays.empty()) return;
  if (const double now = ImGui::GetTime();
      detail == Detail::All && has_ranks_ &&
      (!context.is_live || now >= ranks_requested_ + kRanksRefreshSeconds)) {
    ranks_requested_ = now;
    ranks_.ask({context.document->revision, graph_->key()},
               [document = context.document, graph = graph_->key()] {
                 return make_rank_series(*document, graph);
               });
  }
  series_.ask({graph_, replays.size(), replays.back().replay},
              [builders = builders_, replays, graph = graph_] {
                if (builders->graph != graph) *builders = Builders{.graph = graph};
                ReplaysSeries all{graph, replays, builders->device.extend(replays),
                                  builders->latency.extend(replays), builders->gap.extend(replays)};
                if (all.main.known() == 0) all.main = builders->launch.extend(replays);
                return all;
              });
  const auto series = this->series();
  if (!series) return;
  request(overall_, overall_requested_, context, {series, {}}, [](const ReplaysSeries& s) {
    return OverallSummary{summarise(s.main), summarise(s.latency), summarise(s.gap)};
  });
  const model::ReplayRange range = context.view.range;
  // A change by the user takes effect without a delay.
  if (range != selected_) bins_requested_ = -1e9;
  selected_ = range;
  if (detail == Detail::All) {
    request(bins_, bins_requested_, context, {series, range},
            [range](const ReplaysSeries& s) { return duration_bins(s.main, range, kBins); });
  }
  if (!durations) return;
  const model::ReplayRange matched{range.first, range.count, durations};
  if (matched != matched_) matches_requested_ = -1e9;
  matched_ = matched;
  request(matches_, matches_requested_, context, {series, matched},
          [matched](const ReplaysSeries& s) { return matching_replays(s.replays, matched); });
}

std::shared_ptr<const RankSeries> ReplaysData::ranks() const {
  auto ranks = has_ranks_ ? ranks_.value() : nullptr;
  return ranks && ranks->graph == graph_->key() && !ranks->lines.empty() ? ranks : nullptr;
}

std::shared_ptr<const ReplaysSeries> ReplaysData::series() const {
  const auto series = series_.value();
  return series && series->graph == graph_ ? series : nullptr;
}

}  // namespace reprise::viewer
