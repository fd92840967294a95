#include "lanes/lowering_choice.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "lanes/cost_schedule.hpp"
#include "lanes/list_schedule.hpp"
#include "lanes/lowered_graph.hpp"

namespace reprise::detail {

namespace {

// Whether nodes wait for half a node besides their first on average. What a node has beyond a few counts no more: a GPU has most of them over
// by the time that the last one is.
bool waits_are_many(const Schedule& schedule) {
  constexpr std::uint64_t kMostOthers = 2;
  std::uint64_t others = 0;
  for (std::uint32_t node = 0; node < schedule.node_count(); ++node) {
    const std::uint64_t parents = schedule.edges_into(node).size();
    others += parents == 0 ? 0 : std::min(parents - 1, kMostOthers);
  }
  return 2 * others >= schedule.node_count();
}

std::string_view shape_name(LoweringChoice::Shape shape) {
  switch (shape) {
    case LoweringChoice::Shape::Faithful: return "faithful";
    case LoweringChoice::Shape::Framed: return "frame";
    case LoweringChoice::Shape::Lanes:
    case LoweringChoice::Shape::Costed: return "lanes ";
  }
  return "?";
}

}  // namespace

std::uint32_t cost_ns(double microseconds) noexcept {
  constexpr double kMostMicroseconds = 4e6;
  return static_cast<std::uint32_t>(std::lround(1000 * std::clamp(microseconds, 0.0, kMostMicroseconds)));
}

NodeHints hints_of(const Recording& recording, const Schedule& schedule, std::span<const std::uint32_t> measured) {
  NodeHints hints;
  hints.works = works_of(recording, schedule);
  hints.starts.assign(schedule.node_count(), NodeStart::NoKernel);
  bool any_early = false;
  std::vector<std::uint32_t> known;
  const auto know = [&](std::uint32_t node, std::uint32_t ns) {
    hints.costs.resize(schedule.node_count(), kNone);
    known.push_back(hints.costs[node] = ns);
  };
  for (std::uint32_t node = 0; node < schedule.node_count(); ++node) {
    const std::uint32_t command = schedule.node_command[node];
    const bool is_measured = node < measured.size() && measured[node] != kNone;
    if (is_measured) {
      know(node, measured[node]);
      ++hints.measured;
    }
    if (recording.commands[command].kind != CommandKind::Dispatch) continue;
    const auto& dispatch = recording.payload<DispatchPayload>(command);
    const bool is_early = recording.starts_early(command);
    hints.starts[node] = is_early ? NodeStart::Early : NodeStart::Ordered;
    any_early |= is_early;
    if (dispatch.cost <= 0 || is_measured) continue;
    know(node, cost_ns(static_cast<double>(dispatch.cost)));
    ++hints.hinted;
  }
  if (!any_early) hints.starts.clear();
  if (known.empty()) return hints;
  const auto middle = known.begin() + static_cast<std::ptrdiff_t>(known.size() / 2);
  std::nth_element(known.begin(), middle, known.end());
  for (std::uint32_t node = 0; node < schedule.node_count(); ++node) {
    if (hints.costs[node] != kNone) continue;
    hints.costs[node] = schedule.is_join[node] != 0 ? 0 : *middle;
    hints.guessed += schedule.is_join[node] != 0 ? 0 : 1;
  }
  return hints;
}

bool has_hints(const Recording& recording) {
  for (std::uint32_t i = 0; i < recording.commands.size(); ++i) {
    if (recording.commands[i].kind != CommandKind::Dispatch) continue;
    const auto& dispatch = recording.payload<DispatchPayload>(i);
    if (dispatch.cost > 0 || dispatch.start == DispatchDesc::Start::Early) return true;
  }
  return recording.has_programmatic_dependencies();
}

std::string name_of(const LoweringChoice& choice) {
  std::string name(shape_name(choice.shape));
  const bool is_costed = choice.shape == LoweringChoice::Shape::Costed;
  if (is_costed || choice.shape == LoweringChoice::Shape::Lanes) name += std::to_string(choice.lanes);
  if (is_costed) name += " by cost";
  if (choice.priorities == LoweringChoice::Priorities::LongestWayFirst) name += ", priorities";
  if (choice.starts == LoweringChoice::Starts::Ordered) name += ", no early starts";
  return name;
}

LoweringChoice automatic_choice(const Schedule& schedule, const NodeHints& hints) {
  LoweringChoice choice;
  const std::uint32_t width = known_width(schedule);
  if (!hints.costs.empty()) {
    if (width <= kAutoLanes && !waits_are_many(schedule)) return {.shape = LoweringChoice::Shape::Framed};
    choice.lanes = lanes_for_costs(schedule, kAutoLanes, hints.costs);
    choice.shape = choice.lanes < width ? LoweringChoice::Shape::Costed : LoweringChoice::Shape::Framed;
    choice.costs = hints.costs;
    return choice;
  }
  choice.shape = width > kAutoLanes ? LoweringChoice::Shape::Lanes : LoweringChoice::Shape::Framed;
  choice.lanes = width > kAutoLanes ? kAutoLanes : 0;
  return choice;
}

}  // namespace reprise::detail
