#include "lanes/tuning_choices.hpp"

#include <algorithm>
#include <utility>

#include "lanes/cost_schedule.hpp"
#include "lanes/list_schedule.hpp"

namespace reprise::detail {

namespace {

constexpr std::uint32_t kLanes[] = {4, 8, 16, 32, 64, 128};
// By cost the best is as often in between.
constexpr std::uint32_t kCostedLanes[] = {4, 6, 8, 12, 16, 24, 32, 48, 64, 128};

}  // namespace

std::vector<LoweringChoice> tuning_choices(const Schedule& schedule, const NodeHints& hints, DevicePriorities priorities) {
  using Shape = LoweringChoice::Shape;
  const std::uint32_t width = known_width(schedule);
  std::vector<LoweringChoice> choices;
  const auto add = [&](LoweringChoice choice) {
    if (std::find(choices.begin(), choices.end(), choice) == choices.end()) choices.push_back(std::move(choice));
  };
  const auto lanes = [&](Shape shape, std::uint32_t count) {
    LoweringChoice choice{.shape = shape, .lanes = count};
    if (shape == Shape::Costed) choice.costs = hints.costs;
    return choice;
  };
  add({.shape = Shape::Faithful});
  add({.shape = Shape::Framed});
  const auto is_too_many = [&](std::uint32_t count) { return count > 4 && count >= 2 * width; };  // as many lanes as it is wide are as good
  for (const std::uint32_t count : kLanes) {
    if (!is_too_many(count)) add(lanes(Shape::Lanes, count));
  }
  for (const std::uint32_t count : kCostedLanes) {
    if (!hints.costs.empty() && !is_too_many(count)) add(lanes(Shape::Costed, count));
  }
  if (priorities == DevicePriorities::Yes && width > 1) {
    LoweringChoice framed{.shape = Shape::Framed, .priorities = LoweringChoice::Priorities::LongestWayFirst};
    framed.costs = hints.costs;
    add(std::move(framed));
    const std::uint32_t count = hints.costs.empty() ? 32 : lanes_for_costs(schedule, kLanes[std::size(kLanes) - 1], hints.costs);
    LoweringChoice laned = lanes(hints.costs.empty() ? Shape::Lanes : Shape::Costed, count);
    laned.priorities = LoweringChoice::Priorities::LongestWayFirst;
    add(std::move(laned));
  }
  if (!hints.starts.empty()) add({.shape = Shape::Framed, .starts = LoweringChoice::Starts::Ordered});
  return choices;
}

}  // namespace reprise::detail
