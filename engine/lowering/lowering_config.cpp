#include "lowering/lowering_config.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "lowering/cost_schedule.hpp"
#include "lowering/list_schedule.hpp"
#include "lowering/lowered_graph.hpp"

namespace reprise::detail {

namespace {

// Whether nodes wait for half a node besides their first on average. What a node has beyond a few
// counts no more: a GPU has most of them over by the time that the last one is.
bool waits_are_many(const DependencyGraph& dependencies) {
  constexpr std::uint64_t kMostOthers = 2;
  std::uint64_t others = 0;
  for (std::uint32_t node = 0; node < dependencies.node_count(); ++node) {
    const std::uint64_t parents = dependencies.edges_into(node).size();
    others += parents == 0 ? 0 : std::min(parents - 1, kMostOthers);
  }
  return 2 * others >= dependencies.node_count();
}

std::string_view shape_name(LoweringConfig::Shape shape) {
  switch (shape) {
    case LoweringConfig::Shape::Faithful: return "faithful";
    case LoweringConfig::Shape::EntryExit: return "entry-exit";
    case LoweringConfig::Shape::Lanes:
    case LoweringConfig::Shape::CostBased: return "lanes ";
  }
  return "?";
}

}  // namespace

std::uint32_t cost_ns(double microseconds) noexcept {
  constexpr double kMostMicroseconds = 4e6;
  return static_cast<std::uint32_t>(
      std::lround(1000 * std::clamp(microseconds, 0.0, kMostMicroseconds)));
}

NodeHints hints_of(const Recording& recording, const DependencyGraph& dependencies,
                   std::span<const std::uint32_t> measured) {
  NodeHints hints;
  hints.works = works_of(recording, dependencies);
  hints.starts.assign(dependencies.node_count(), NodeStart::NoKernel);
  bool any_early = false;
  std::vector<std::uint32_t> known;
  const auto know = [&](std::uint32_t node, std::uint32_t ns) {
    hints.costs.resize(dependencies.node_count(), kNone);
    known.push_back(hints.costs[node] = ns);
  };
  for (std::uint32_t node = 0; node < dependencies.node_count(); ++node) {
    const std::uint32_t command = dependencies.node_command[node];
    const bool is_measured = node < measured.size() && measured[node] != kNone;
    if (is_measured) {
      know(node, measured[node]);
      ++hints.measured;
    }
    if (recording.commands[command].kind != CommandKind::Dispatch) continue;
    const auto& dispatch = recording.payload<DispatchPayload>(command);
    const bool is_early = recording.starts_programmatically(command);
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
  for (std::uint32_t node = 0; node < dependencies.node_count(); ++node) {
    if (hints.costs[node] != kNone) continue;
    hints.costs[node] = dependencies.is_join[node] != 0 ? 0 : *middle;
    hints.guessed += dependencies.is_join[node] != 0 ? 0 : 1;
  }
  return hints;
}

bool has_hints(const Recording& recording) {
  for (std::uint32_t i = 0; i < recording.commands.size(); ++i) {
    if (recording.commands[i].kind != CommandKind::Dispatch) continue;
    const auto& dispatch = recording.payload<DispatchPayload>(i);
    if (dispatch.cost > 0 || dispatch.start == DispatchDesc::Start::Programmatic) return true;
  }
  return recording.has_programmatic_dependencies();
}

std::string name_of(const LoweringConfig& choice) {
  std::string name(shape_name(choice.shape));
  const bool is_costed = choice.shape == LoweringConfig::Shape::CostBased;
  if (is_costed || choice.shape == LoweringConfig::Shape::Lanes)
    name += std::to_string(choice.lanes);
  if (is_costed) name += " by cost";
  if (choice.priorities == LoweringConfig::Priorities::LongestWayFirst) name += ", priorities";
  if (choice.starts == LoweringConfig::Starts::Ordered) name += ", no early starts";
  return name;
}

LoweringConfig automatic_config(const DependencyGraph& dependencies, const NodeHints& hints) {
  LoweringConfig choice;
  const std::uint32_t width = known_width(dependencies);
  if (!hints.costs.empty()) {
    if (width <= kAutoLanes && !waits_are_many(dependencies))
      return {.shape = LoweringConfig::Shape::EntryExit};
    choice.lanes = lanes_for_costs(dependencies, kAutoLanes, hints.costs);
    choice.shape =
        choice.lanes < width ? LoweringConfig::Shape::CostBased : LoweringConfig::Shape::EntryExit;
    choice.costs = hints.costs;
    return choice;
  }
  choice.shape =
      width > kAutoLanes ? LoweringConfig::Shape::Lanes : LoweringConfig::Shape::EntryExit;
  choice.lanes = width > kAutoLanes ? kAutoLanes : 0;
  return choice;
}

}  // namespace reprise::detail
