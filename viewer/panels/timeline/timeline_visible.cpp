#include "panels/timeline/timeline_visible.hpp"

#include <algorithm>
#include <set>

#include "panels/timeline/timeline_draw_context.hpp"

namespace reprise::viewer {

using trace::Replay;

namespace {

constexpr std::size_t kMaxInspected = 4096;      // visible replays of a graph
constexpr std::size_t kMaxOthers = 64;           // replays whose nodes are drawn
constexpr std::size_t kMaxOtherNodes = 200'000;  // of these together

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

}  // namespace reprise::viewer
