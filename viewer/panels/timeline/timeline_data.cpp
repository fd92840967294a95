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
  const auto is_offered = [&](const trace::Replay& r) {
    return r.sampled != 0 && admits(range, r);
  };
  switch (choice) {
    case ReplayChoice::Previous:
      for (std::size_t i = std::min(at, end); i-- > first;) {
        if (is_offered(replays[i])) return replays[i].replay;
      }
      return std::nullopt;
    case ReplayChoice::Next:
      for (std::size_t i = std::max(at, first); i < end; ++i) {
        if (is_offered(replays[i]) && replays[i].replay > from) return replays[i].replay;
      }
      return std::nullopt;
    case ReplayChoice::Median:
    case ReplayChoice::Slowest: break;
  }
  std::vector<std::pair<trace::Time, std::uint64_t>> times;
  for (std::size_t i = first; i < end; ++i) {
    const trace::Time time = model::measure(replays[i], model::ReplayMeasure::DeviceTime);
    if (is_offered(replays[i]) && time >= 0) times.emplace_back(time, replays[i].replay);
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
      others_(background),
      host_(background),
      activity_(background),
      ranks_(background),
      rank_replay_(background),
      choice_(background),
      host_builder_(std::make_shared<HostBuilder>()),
      activity_builder_(std::make_shared<ActivityBuilder>()) {}

void TimelineData::request(const PanelContext& context, model::RowsBy by) {
  const auto document = context.document;
  const auto trace = document->samples;
  const auto& ranges = document->host_ranges;
  host_.ask({trace, ranges.size()}, [trace, ranges, builder = host_builder_] {
    if (builder->trace != trace) *builder = HostBuilder{trace, {}};
    return builder->builder.extend(ranges);
  });
  std::uint64_t replays = 0;
  for (const auto& [key, entry] : document->graphs)
    replays += entry.dropped_replays + entry.replays.size();
  activity_.ask({trace, replays}, [trace, document, builder = activity_builder_] {
    if (builder->trace != trace) *builder = ActivityBuilder{trace, {}};
    return builder->builder.extend(*document);
  });
  request_ranks(context);
  wanted_ = {};
  if (context.replay == nullptr || !context.replay->block || context.entry == nullptr) return;
  wanted_ = {context.entry->graph, context.replay->block, by};
  shown_.ask(wanted_, [key = wanted_, replay = context.replay->replay] {
    return ShownScene{key, make_timeline_scene(*key.graph, replay, key.block, key.by)};
  });
}

// The rows of one process follow from its document at once; those of a thousand ranks take time.
void TimelineData::request_ranks(const PanelContext& context) {
  const auto document = context.document;
  const RanksKey key{document->revision, context.view.graph, activity(), host()};
  const auto make = [document, key] {
    return make_timeline_ranks(*document, key.graph, *key.activity, *key.host);
  };
  if (!document->has_ranks() || ranks_trace_ != document->samples) {
    shown_ranks_ = std::make_shared<const TimelineRanks>(make());
    first_revision_ = document->revision;
  } else {
    ranks_.ask(key, make);
    if (auto latest = ranks_.value(); latest && latest->revision >= first_revision_)
      shown_ranks_ = std::move(latest);
  }
  ranks_trace_ = document->samples;
  if (!shown_ranks_->has_ranks() || context.replay == nullptr) return;
  rank_replay_.ask({shown_ranks_, context.replay->replay.replay},
                   [document, ranks = shown_ranks_, replay = context.replay->replay.replay] {
                     return make_rank_replay(*document, *ranks, replay);
                   });
}

void TimelineData::request_others(const PanelContext& context, model::RowsBy by,
                                  std::vector<trace::Replay> replays) {
  OthersKey key{context.document->samples, {}, by};
  others_trace_ = key.trace;
  others_by_ = by;
  for (const trace::Replay& r : replays) key.replays.push_back({{r.graph, r.version}, r.replay});
  others_.ask(key, [key, replays = std::move(replays), before = others_.value(),
                    document = context.document] {
    OtherScenes others{key, {}};
    const bool same_rows = before && before->key.trace == key.trace && before->key.by == key.by;
    for (std::size_t i = 0; i < replays.size(); ++i) {
      if (same_rows) {
        if (const auto cached = before->scenes.find(key.replays[i]);
            cached != before->scenes.end()) {
          others.scenes.insert(*cached);
          continue;
        }
      }
      const model::GraphEntry* const entry = document->find(key.replays[i].graph);
      if (entry == nullptr) continue;
      if (auto block = document->samples->find(replays[i])) {
        others.scenes.emplace(key.replays[i],
                              std::make_shared<const TimelineScene>(make_timeline_scene(
                                  *entry->graph, replays[i], std::move(block), key.by)));
      }
    }
    return others;
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

std::shared_ptr<const TimelineData::Scenes> TimelineData::others() const {
  static const auto kEmpty = std::make_shared<const Scenes>();
  const auto latest = others_.value();
  return latest && latest->key.trace == others_trace_ && latest->key.by == others_by_
             ? std::shared_ptr<const Scenes>(latest, &latest->scenes)
             : kEmpty;
}

std::shared_ptr<const HostRows> TimelineData::host() const {
  static const auto kEmpty = std::make_shared<const HostRows>();
  const auto latest = host_.value();
  return latest ? latest : kEmpty;
}

std::shared_ptr<const RankReplay> TimelineData::rank_replay() const {
  static const auto kEmpty = std::make_shared<const RankReplay>();
  const auto latest = rank_replay_.value();
  return latest ? latest : kEmpty;
}

std::shared_ptr<const model::Activity> TimelineData::activity() const {
  static const auto kEmpty = std::make_shared<const model::Activity>();
  const auto latest = activity_.value();
  return latest ? latest : kEmpty;
}

}  // namespace reprise::viewer
