#include "panels/timeline/timeline_ranks.hpp"

#include <algorithm>
#include <set>

namespace reprise::viewer {

namespace {

void choose_shown(TimelineRanks& all, model::GraphKey shown) {
  if (all.ranks.size() > kMaxShownRanks) {
    std::set<std::uint32_t> sessions;
    for (const std::size_t i : model::latest_to_arrive(all.matches, shown, kMaxShownRanks))
      sessions.insert(all.matches[i].session);
    for (const TimelineRank& rank : all.ranks) {
      if (sessions.size() < kMaxShownRanks) sessions.insert(rank.session);
    }
    for (TimelineRank& rank : all.ranks) rank.is_shown = sessions.count(rank.session) != 0;
  }
  all.shown = std::min(all.ranks.size(), kMaxShownRanks);
}

}  // namespace

TimelineRanks make_timeline_ranks(const model::Document& document, model::GraphKey shown,
                                  const model::Activity& activity, const HostRows& host) {
  TimelineRanks all;
  all.revision = document.revision;
  if (document.has_ranks()) all.clocks.emplace(document);
  const std::size_t count = all.has_ranks() ? document.sessions->size() : 1;
  std::vector<TimelineRank> by_session(count);
  for (std::uint32_t s = 0; s < count; ++s) {
    by_session[s].session = s;
    if (!all.has_ranks()) continue;
    by_session[s].name = document.rank_name(s);
    const trace::Session& session = (*document.sessions)[s];
    by_session[s].process = session.host + ", process " + std::to_string(session.pid);
  }
  const auto of = [&](std::uint32_t session) -> TimelineRank& {
    return by_session[all.has_ranks() ? session : 0];
  };
  std::set<std::uint32_t> threads;
  for (const auto& [thread, launches] : activity.threads) threads.insert(thread);
  for (const auto& [key, row] : host.rows) threads.insert(key.first);
  for (const std::uint32_t thread : threads)
    of(document.session_of_thread(thread)).threads.push_back(thread);
  for (const auto& [device, idle] : activity.idle)
    of(document.session_of_device(device)).devices.push_back(device);
  for (const auto& [queue, replays] : activity.queues)
    of(document.session_of_queue(queue)).queues.push_back(queue);
  for (const auto& [key, entry] : document.graphs) {
    if (!entry.replays.empty() || key == shown) of(document.session_of(key)).graphs.push_back(key);
  }
  if (all.has_ranks()) {
    all.matches = model::matching_graphs(document, shown);
    for (const model::RankGraph& match : all.matches) {
      of(match.session).match = match.graph;
      of(match.session).has_match = true;
    }
    std::sort(by_session.begin(), by_session.end(),
              [&](const TimelineRank& a, const TimelineRank& b) {
                return (*document.sessions)[a.session].rank < (*document.sessions)[b.session].rank;
              });
  }
  all.ranks = std::move(by_session);
  choose_shown(all, shown);
  return all;
}

RankReplay make_rank_replay(const model::Document& document, const TimelineRanks& ranks,
                            std::uint64_t replay) {
  RankReplay all{replay, model::awaited_arrivals(document, ranks.matches, replay)};
  for (const model::RankGraph& match : ranks.matches) {
    const trace::Replay* const one = document.find_replay(match.graph, replay);
    if (one == nullptr || one->started == 0) continue;
    all.started = all.started == 0 ? one->started : std::min(all.started, one->started);
    all.ended = std::max(all.ended, one->ended);
  }
  return all;
}

}  // namespace reprise::viewer
