#include "planner/lifetime_cliques.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace reprise::detail {

namespace {

struct Event {
  std::int64_t time = 0;
  std::uint32_t is_begin = 0;  // ends come first
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
  result.by_begin.reserve(count);
  // A section is complete when a buffer ends after another began.
  std::uint64_t live = 0;
  bool has_begun = false;
  for (const Event& event : events) {
    if (event.is_begin != 0) {
      result.ranges[event.buffer].begin = result.sections;
      result.by_begin.push_back(event.buffer);
      result.pairs += live++;
      has_begun = true;
      continue;
    }
    if (has_begun) ++result.sections;
    has_begun = false;
    result.ranges[event.buffer].end = result.sections;
    --live;
  }
  std::sort(result.by_begin.begin(), result.by_begin.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::pair(result.ranges[a].begin, a) < std::pair(result.ranges[b].begin, b);
  });
  return result;
}

std::vector<IndexRange> independent_groups(const LifetimeCliques& sections) {
  std::vector<IndexRange> groups;
  std::uint32_t end = 0;
  for (std::uint32_t i = 0; i < sections.by_begin.size(); ++i) {
    const IndexRange& range = sections.ranges[sections.by_begin[i]];
    if (groups.empty() || range.begin >= end) groups.push_back({i, i});
    groups.back().end = i + 1;
    end = std::max(end, range.end);
  }
  return groups;
}

PackProblem interval_problem(const LifetimeCliques& sections, std::span<const PackItem> items,
                             std::span<const std::uint32_t> which) {
  PackProblem problem;
  problem.is_interval = true;
  const auto count = static_cast<std::uint32_t>(which.size());
  std::uint32_t first = sections.sections, last = 0;
  for (const std::uint32_t buffer : which) {
    first = std::min(first, sections.ranges[buffer].begin);
    last = std::max(last, sections.ranges[buffer].end);
  }
  problem.sections = last > first ? last - first : 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    const IndexRange& range = sections.ranges[which[i]];
    problem.items.push_back(items[which[i]]);
    problem.first_range.push_back(i);
    problem.ranges.push_back({range.begin - first, range.end - first});
  }
  problem.first_range.push_back(count);

  std::vector<std::uint32_t> by_begin(count);
  std::iota(by_begin.begin(), by_begin.end(), 0u);
  std::stable_sort(by_begin.begin(), by_begin.end(), [&](std::uint32_t a, std::uint32_t b) {
    return problem.ranges[a].begin < problem.ranges[b].begin;
  });
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
  std::vector<std::uint32_t> live;
  for (const std::uint32_t item : by_begin) {
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
