#include "lowering/tuning_candidates.hpp"

#include <algorithm>
#include <utility>

#include "lowering/cost_schedule.hpp"
#include "lowering/list_schedule.hpp"

namespace reprise::detail {

namespace {

constexpr std::uint32_t kLanes[] = {4, 8, 16, 32, 64, 128};
// By cost the best is as often in between.
constexpr std::uint32_t kCostedLanes[] = {4, 6, 8, 12, 16, 24, 32, 48, 64, 128};

}  // namespace

std::vector<LoweringConfig> tuning_candidates(const DependencyGraph& dependencies,
                                              const NodeHints& hints, DevicePriorities priorities) {
  using Shape = LoweringConfig::Shape;
  const std::uint32_t width = known_width(dependencies);
  std::vector<LoweringConfig> choices;
  const auto add = [&](LoweringConfig choice) {
    if (std::find(choices.begin(), choices.end(), choice) == choices.end())
      choices.push_back(std::move(choice));
  };
  const auto lanes = [&](Shape shape, std::uint32_t count) {
    LoweringConfig choice{.shape = shape, .lanes = count};
    if (shape == Shape::CostBased) choice.costs = hints.costs;
    return choice;
  };
  add({.shape = Shape::Faithful});
  add({.shape = Shape::EntryExit});
  const auto is_too_many = [&](std::uint32_t count) {
    return count > 4 && count >= 2 * width;
  };  // as many lanes as it is wide are as good
  for (const std::uint32_t count : kLanes) {
    if (!is_too_many(count)) add(lanes(Shape::Lanes, count));
  }
  for (const std::uint32_t count : kCostedLanes) {
    if (!hints.costs.empty() && !is_too_many(count)) add(lanes(Shape::CostBased, count));
  }
  if (priorities == DevicePriorities::Yes && width > 1) {
    LoweringConfig framed{.shape = Shape::EntryExit,
                          .priorities = LoweringConfig::Priorities::LongestWayFirst};
    framed.costs = hints.costs;
    add(std::move(framed));
    const std::uint32_t count =
        hints.costs.empty()
            ? 32
            : lanes_for_costs(dependencies, kLanes[std::size(kLanes) - 1], hints.costs);
    LoweringConfig laned = lanes(hints.costs.empty() ? Shape::Lanes : Shape::CostBased, count);
    laned.priorities = LoweringConfig::Priorities::LongestWayFirst;
    add(std::move(laned));
  }
  if (!hints.starts.empty())
    add({.shape = Shape::EntryExit, .starts = LoweringConfig::Starts::Ordered});
  return choices;
}

}  // namespace reprise::detail
