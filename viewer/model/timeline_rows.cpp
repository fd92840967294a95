#include "model/timeline_rows.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <queue>
#include <tuple>
#include <utility>

#include "trace/record_names.hpp"

namespace reprise::model {

namespace {

// The rows of one group: occupied levels by end time, free levels by number.
struct Group {
  template <class T>
  using Smallest = std::priority_queue<T, std::vector<T>, std::greater<>>;
  Smallest<std::pair<trace::Time, std::uint32_t>> busy;
  Smallest<std::uint32_t> free;
  std::uint32_t levels = 0;
  std::uint32_t first_row = 0;

  std::uint32_t take(trace::Time started, trace::Time ended) {
    while (!busy.empty() && busy.top().first <= started) {
      free.push(busy.top().second);
      busy.pop();
    }
    if (free.empty()) free.push(levels++);
    const std::uint32_t level = free.top();
    free.pop();
    busy.push({ended, level});
    return level;
  }
};

}  // namespace

std::string row_group_name(RowsBy by, trace::SampleSource source, std::uint32_t group) {
  return by == RowsBy::Lane ? "lane " + std::to_string(group) : trace::worker_name(source, group);
}

TimelineRows timeline_rows(const Graph& graph, const trace::SampleBlock& block, RowsBy by) {
  TimelineRows result;
  for (std::uint32_t i = 0; i < block.samples.size(); ++i) {
    const trace::Sample& s = block.samples[i];
    if (s.started != 0 && s.node < graph.node_count())
      result.items.push_back({i, s.node, 0, s.started, s.started + s.duration});
  }
  // A node's row precedes those of the nodes that it runs, also if both start at the same time.
  const auto order = [own = graph.own_node_count()](const TimelineItem& item) {
    return std::tuple(item.started, item.node < own ? 0 : item.node, item.ended, item.sample);
  };
  std::sort(result.items.begin(), result.items.end(),
            [&](const TimelineItem& a, const TimelineItem& b) { return order(a) < order(b); });
  const auto group_of = [&](const TimelineItem& item) {
    return by == RowsBy::Lane ? graph.record().nodes[item.node].lane
                              : std::uint32_t{block.samples[item.sample].worker};
  };
  std::map<std::uint32_t, Group> groups;
  for (TimelineItem& item : result.items)
    item.row = groups[group_of(item)].take(item.started, item.ended);
  for (auto& [id, group] : groups) {
    group.first_row = static_cast<std::uint32_t>(result.rows.size());
    for (std::uint32_t level = 0; level < group.levels; ++level) result.rows.push_back({id, level});
  }
  for (TimelineItem& item : result.items) item.row += groups[group_of(item)].first_row;
  return result;
}

}  // namespace reprise::model
