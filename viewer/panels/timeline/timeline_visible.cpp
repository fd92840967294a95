#include "panels/timeline/timeline_visible.hpp"

#include <algorithm>
#include <set>

namespace reprise::viewer {

using trace::Replay;

namespace {

constexpr std::size_t kMaxInspected = 4096;      // visible replays of a graph
constexpr std::size_t kMaxOthers = 64;           // replays whose nodes are drawn
constexpr std::size_t kMaxOtherNodes = 200'000;  // of these together
constexpr double kMaxLaunchBefore = 0.35;        // lengths of a replay before its start

using Kind = TimelineRow::Kind;

}  // namespace

std::vector<Replay> replays_with_nodes(const VisibleTimelineDesc& desc) {
  // Nodes may have no rows before those of a replay were loaded, so other rows count as well.
  std::set<model::GraphKey> graphs;
  for (const TimelineRow& row : desc.layout.rows) {
    const bool is_rank = row.kind == Kind::Rank && desc.ranks.ranks[row.id].has_match &&
                         desc.ranks.ranks[row.id].is_shown;
    if (is_rank || row.kind == Kind::Nodes || row.kind == Kind::Replays) graphs.insert(row.graph);
  }
  const auto is_drawn = [&](const Replay& r) {
    return r.sampled != 0 && r.started != 0 && r.ended >= desc.from && r.started <= desc.to &&
           static_cast<double>(r.ended - r.started) >= desc.min_length;
  };
  std::vector<Replay> same;
  for (const model::RankGraph& match : desc.ranks.matches) {
    if (!desc.shown || same.size() == kMaxOthers) break;
    if (match.graph == desc.shown->graph || graphs.count(match.graph) == 0) continue;
    const Replay* const replay = desc.document.find_replay(match.graph, desc.shown->replay);
    if (replay != nullptr && is_drawn(*replay)) same.push_back(*replay);
  }
  const auto is_known = [&](const Replay& r) {
    const TimelineData::ReplayKey key{{r.graph, r.version}, r.replay};
    return desc.shown == key || std::any_of(same.begin(), same.end(), [&](const Replay& s) {
             return s.graph == r.graph && s.version == r.version && s.replay == r.replay;
           });
  };
  std::vector<Replay> others;
  std::size_t nodes = 0;
  for (const model::GraphKey graph : graphs) {
    const model::GraphEntry* const entry = desc.document.find(graph);
    if (entry == nullptr) continue;
    const auto [first, end] = replays_between(entry->replays, desc.from, desc.to);
    if (end - first > kMaxInspected) continue;  // most of them are too short
    for (std::size_t i = first; i < end && others.size() <= kMaxOthers; ++i) {
      const Replay& replay = entry->replays[i];
      if (!is_drawn(replay) || is_known(replay)) continue;
      others.push_back(replay);
      nodes += entry->graph->node_count();
    }
  }
  if (others.size() <= kMaxOthers && nodes <= kMaxOtherNodes)
    same.insert(same.end(), others.begin(), others.end());
  return same;
}

TimelineSpan span_of_replay(const Replay& replay, const TimelineScene* scene) {
  TimelineSpan s{replay.started, replay.ended};
  if (scene != nullptr && scene->times.started != 0) {
    s.started = s.started == 0 ? scene->times.started : std::min(s.started, scene->times.started);
    s.ended = std::max(s.ended, scene->times.ended);
  }
  if (s.started == 0) s = {replay.launched, replay.launch_returned};
  s.ended = std::max(s.ended, s.started + 1000);
  return s;
}

TimelineSpan fitted_span(const Replay& replay, TimelineSpan span, const RankReplay& on_ranks) {
  const auto before = static_cast<double>(span.started - replay.launched);
  if (replay.launched != 0 && before > 0 && before < kMaxLaunchBefore * span.length())
    span.started = replay.launched;
  if (on_ranks.replay != replay.replay) return span;
  if (on_ranks.started != 0) span.started = std::min(span.started, on_ranks.started);
  span.ended = std::max(span.ended, on_ranks.ended);
  return span;
}

}  // namespace reprise::viewer
