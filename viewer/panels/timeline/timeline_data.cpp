#include "panels/timeline/timeline_data.hpp"

#include <algorithm>
#include <utility>

#include "model/replay_statistics.hpp"

namespace reprise::viewer {

std::optional<std::uint64_t> select_replay(const model::ListView<trace::Replay>& replays,
                                           model::ReplayRange range, ReplayChoice choice,
                                           std::uint64_t from) {
  const std::size_t first = std::min(range.first, replays.size()),
                    end = first + std::min(range.count, replays.size() - first);
  const std::size_t at = replays.lower_bound(
      from, [](const trace::Replay& r, std::uint64_t n) { return r.replay < n; });
  switch (choice) {
    case ReplayChoice::Previous:
      for (std::size_t i = std::min(at, end); i-- > first;) {
        if (replays[i].sampled != 0) return replays[i].replay;
      }
      return std::nullopt;
    case ReplayChoice::Next:
      for (std::size_t i = std::max(at, first); i < end; ++i) {
        if (replays[i].sampled != 0 && replays[i].replay > from) return replays[i].replay;
      }
      return std::nullopt;
    case ReplayChoice::Median:
    case ReplayChoice::Slowest: break;
  }
  std::vector<std::pair<trace::Time, std::uint64_t>> times;
  for (std::size_t i = first; i < end; ++i) {
    const trace::Time time = model::measure(replays[i], model::ReplayMeasure::DeviceTime);
    if (replays[i].sampled != 0 && time >= 0) times.emplace_back(time, replays[i].replay);
  }
  if (times.empty()) return std::nullopt;
  const auto target = choice == ReplayChoice::Slowest
                          ? times.end() - 1
                          : times.begin() + static_cast<std::ptrdiff_t>((times.size() - 1) / 2);
  std::nth_element(times.begin(), target, times.end());
  return target->second;
}

TimelineData::TimelineData(Background& background)
    : shown_(background),
      adjacent_(background),
      host_(background),
      choice_(background),
      builder_(std::make_shared<HostBuilder>()) {}

void TimelineData::request(const PanelContext& context, model::RowsBy by) {
  const std::shared_ptr<model::SampleStore>& trace = context.document->samples;
  host_.ask({trace, context.document->host_ranges.size()},
            [builder = builder_, trace, ranges = context.document->host_ranges] {
              if (builder->trace != trace) *builder = HostBuilder{trace, {}};
              return builder->builder.extend(ranges);
            });
  wanted_ = {};
  if (context.replay == nullptr || !context.replay->block || context.entry == nullptr) return;
  wanted_ = {context.entry->graph, context.replay->block, by};
  shown_.ask(wanted_, [key = wanted_, replay = context.replay->replay] {
    return ShownScene{key, make_timeline_scene(*key.graph, replay, key.block, key.by)};
  });
}

void TimelineData::request_adjacent(const PanelContext& context, model::RowsBy by,
                                    std::vector<trace::Replay> replays) {
  AdjacentKey key{context.entry->graph, {}, by};
  for (const trace::Replay& r : replays) key.replays.push_back(r.replay);
  adjacent_.ask(key, [key, replays = std::move(replays), before = adjacent_.value(),
                      store = context.document->samples] {
    AdjacentScenes adjacent{key, {}};
    const bool same_rows = before && before->key.graph == key.graph && before->key.by == key.by;
    for (const trace::Replay& replay : replays) {
      if (same_rows) {
        if (const auto cached = before->scenes.find(replay.replay);
            cached != before->scenes.end()) {
          adjacent.scenes.insert(*cached);
          continue;
        }
      }
      if (auto block = store->find(replay)) {
        adjacent.scenes.emplace(
            replay.replay, std::make_shared<const TimelineScene>(
                               make_timeline_scene(*key.graph, replay, std::move(block), key.by)));
      }
    }
    return adjacent;
  });
}

void TimelineData::choose(const PanelContext& context, ReplayChoice choice) {
  const std::uint64_t from =
      context.replay != nullptr ? context.replay->replay.replay : context.view.replay.value_or(0);
  choice_.ask(++choices_, [replays = context.entry->replays, range = context.view.range, choice,
                           from] { return select_replay(replays, range, choice, from); });
}

std::optional<std::uint64_t> TimelineData::take_choice() {
  if (taken_ == choices_) return std::nullopt;
  const auto chosen = choice_.value(choices_);
  if (!chosen) return std::nullopt;
  taken_ = choices_;
  return *chosen;
}

TimelineData::Scene TimelineData::shown() const {
  const auto latest = shown_.value();
  const bool is_current =
      latest && wanted_.block && latest->key.graph == wanted_.graph && latest->key.by == wanted_.by;
  return is_current ? Scene(latest, &latest->scene) : nullptr;
}

std::shared_ptr<const TimelineData::Scenes> TimelineData::adjacent() const {
  static const auto kEmpty = std::make_shared<const Scenes>();
  const auto latest = adjacent_.value();
  return latest && latest->key.graph == wanted_.graph && latest->key.by == wanted_.by
             ? std::shared_ptr<const Scenes>(latest, &latest->scenes)
             : kEmpty;
}

std::shared_ptr<const HostRows> TimelineData::host() const {
  static const auto kEmpty = std::make_shared<const HostRows>();
  const auto latest = host_.value();
  return latest ? latest : kEmpty;
}

}  // namespace reprise::viewer
