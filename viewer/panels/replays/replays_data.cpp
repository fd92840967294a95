#include "panels/replays/replays_data.hpp"

#include <chrono>
#include <utility>

namespace reprise::viewer {

namespace {

constexpr double kShareOfAThread = 0.1;  // that counting a growing trace again and again may take

}  // namespace

struct ReplaysData::Builders {
  GraphPointer graph;
  ReplaySeriesBuilder device{ReplayValue::DeviceTime}, launch{ReplayValue::LaunchCall},
      latency{ReplayValue::Latency}, gap{ReplayValue::Gap};
};

ReplaysData::ReplaysData(Background& background)
    : series_(background),
      overall_(background),
      range_(background),
      matches_(background),
      builders_(std::make_shared<Builders>()) {}

template <class Value, class Make>
void ReplaysData::ask(ViewModel<Value>& view_model, double& asked_at, const PanelContext& context,
                      const ViewModelKey& key, Make make) const {
  const double now = ImGui::GetTime();
  const auto last = view_model.value();
  if (context.is_live && last && last->graph == graph_ &&
      now < asked_at + last->seconds / kShareOfAThread)
    return;
  asked_at = now;
  view_model.ask(key, [series = key.series, make = std::move(make)] {
    const auto begin = std::chrono::steady_clock::now();
    MadeOf<Value> made{series->graph, make(*series), 0};
    made.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return made;
  });
}

void ReplaysData::ask(const PanelContext& context, Detail detail,
                      const std::optional<DurationRange>& durations) {
  const model::ListView<trace::Replay>& replays = context.entry->replays;
  graph_ = context.entry->graph;
  wants_matches_ = durations.has_value();
  if (replays.empty()) return;
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
  ask(overall_, overall_asked_, context, {series, 0, 0, {}}, [](const ReplaysSeries& s) {
    return AllFigures{series_figures(s.main), series_figures(s.latency), series_figures(s.gap)};
  });
  const model::ReplayRange range = context.view.range;
  // What the user changes is not put off.
  if (range.first != chosen_.first || range.count != chosen_.count)
    range_asked_ = matches_asked_ = -1e9;
  chosen_ = range;
  if (detail == Detail::All) {
    ask(range_, range_asked_, context, {series, range.first, range.count, {}},
        [range](const ReplaysSeries& s) { return range_view_model(s.replays, s.main, range); });
  }
  if (!durations) return;
  if (*durations != durations_) matches_asked_ = -1e9;
  durations_ = *durations;
  ask(matches_, matches_asked_, context, {series, range.first, range.count, *durations},
      [range, wanted = *durations](const ReplaysSeries& s) {
        return matching_replays(s.main, range, wanted.least, wanted.greatest);
      });
}

std::shared_ptr<const ReplaysSeries> ReplaysData::series() const {
  const auto made = series_.value();
  return made && made->graph == graph_ ? made : nullptr;
}

}  // namespace reprise::viewer
