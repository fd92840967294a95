#include "planner/lifetime_cliques.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace reprise::detail {

namespace {

struct Event {
  std::int64_t time = 0;
  std::uint32_t is_start = 0;  // at equal times, ends precede starts
  std::uint32_t buffer = 0;
  friend auto operator<=>(const Event&, const Event&) = default;
};

}  // namespace

LifetimeCliques find_cliques(std::span<const BufferLifetime> buffers) {
  LifetimeCliques result;
  const auto count = static_cast<std::uint32_t>(buffers.size());
  std::vector<Event> events;
  events.reserve(2 * buffers.size());
  for (std::uint32_t i = 0; i < count; ++i) {
    events.push_back({buffers[i].lower, 1, i});
    events.push_back({buffers[i].upper, 0, i});
  }
  std::sort(events.begin(), events.end());
  result.ranges.resize(count);
  result.by_start.reserve(count);
  // A clique is maximal if a buffer ends directly after another started.
  std::uint64_t live = 0;
  bool has_started = false;
  for (const Event& event : events) {
    if (event.is_start != 0) {
      result.ranges[event.buffer].begin = result.count;
      result.by_start.push_back(event.buffer);
      result.overlaps += live++;
      has_started = true;
      continue;
    }
    if (has_started) ++result.count;
    has_started = false;
    result.ranges[event.buffer].end = result.count;
    --live;
  }
  std::sort(result.by_start.begin(), result.by_start.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::pair(result.ranges[a].begin, a) < std::pair(result.ranges[b].begin, b);
  });
  return result;
}

std::vector<IndexRange> independent_groups(const LifetimeCliques& cliques) {
  std::vector<IndexRange> groups;
  std::uint32_t end = 0;
  for (std::uint32_t i = 0; i < cliques.by_start.size(); ++i) {
    const IndexRange& range = cliques.ranges[cliques.by_start[i]];
    if (groups.empty() || range.begin >= end) groups.push_back({i, i});
    groups.back().end = i + 1;
    end = std::max(end, range.end);
  }
  return groups;
}

PackProblem interval_problem(const LifetimeCliques& cliques, std::span<const PackItem> items,
                             std::span<const std::uint32_t> selected) {
  PackProblem problem;
  problem.is_interval = true;
  const auto count = static_cast<std::uint32_t>(selected.size());
  std::uint32_t first = cliques.count, last = 0;
  for (const std::uint32_t buffer : selected) {
    first = std::min(first, cliques.ranges[buffer].begin);
    last = std::max(last, cliques.ranges[buffer].end);
  }
  problem.clique_count = last > first ? last - first : 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    const IndexRange& range = cliques.ranges[selected[i]];
    problem.items.push_back(items[selected[i]]);
    problem.first_range.push_back(i);
    problem.ranges.push_back({range.begin - first, range.end - first});
  }
  problem.first_range.push_back(count);

  std::vector<std::uint32_t> by_start(count);
  std::iota(by_start.begin(), by_start.end(), 0u);
  std::stable_sort(by_start.begin(), by_start.end(), [&](std::uint32_t a, std::uint32_t b) {
    return problem.ranges[a].begin < problem.ranges[b].begin;
  });
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
  std::vector<std::uint32_t> live;
  for (const std::uint32_t item : by_start) {
    std::erase_if(live, [&](std::uint32_t other) {
      return problem.ranges[other].end <= problem.ranges[item].begin;
    });
    for (const std::uint32_t other : live) pairs.emplace_back(other, item);
    live.push_back(item);
  }
  set_conflicts(problem, pairs);
  return problem;
}

}  // namespace reprise::detail
