#include "lowering/lowering_config.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "lowering/cost_schedule.hpp"
#include "lowering/list_schedule.hpp"
#include "lowering/lowered_graph.hpp"

namespace reprise::detail {

namespace {

// True if nodes have on average at least half a parent besides their first. Only the first two
// extra parents of a node count, because most parents finish well before the last one.
bool has_many_joins(const DependencyGraph& dependencies) {
  constexpr std::uint64_t kMaxExtraParents = 2;
  std::uint64_t extra_parents = 0;
  for (std::uint32_t node = 0; node < dependencies.node_count(); ++node) {
    const std::uint64_t parents = dependencies.edges_into(node).size();
    extra_parents += parents == 0 ? 0 : std::min(parents - 1, kMaxExtraParents);
  }
  return 2 * extra_parents >= dependencies.node_count();
}

std::string_view shape_name(LoweringConfig::Shape shape) {
  switch (shape) {
    case LoweringConfig::Shape::Faithful: return "faithful";
    case LoweringConfig::Shape::EntryExit: return "entry-exit";
    case LoweringConfig::Shape::Lanes:
    case LoweringConfig::Shape::CostBased: return "lanes ";
    case LoweringConfig::Shape::Segments: return "segments";
  }
  return "?";
}

}  // namespace

std::uint32_t cost_ns(double microseconds) noexcept {
  constexpr double kMaxMicroseconds = 4e6;
  return static_cast<std::uint32_t>(
      std::lround(1000 * std::clamp(microseconds, 0.0, kMaxMicroseconds)));
}

NodeHints hints_of(const Recording& recording, const DependencyGraph& dependencies,
                   std::span<const std::uint32_t> measured) {
  NodeHints hints;
  hints.works = node_works(recording, dependencies);
  hints.starts.assign(dependencies.node_count(), NodeStart::NoKernel);
  bool any_programmatic = false;
  std::vector<std::uint32_t> known_costs;
  const auto set_cost = [&](std::uint32_t node, std::uint32_t ns) {
    hints.costs.resize(dependencies.node_count(), kNone);
    known_costs.push_back(hints.costs[node] = ns);
  };
  for (std::uint32_t node = 0; node < dependencies.node_count(); ++node) {
    const std::uint32_t command = dependencies.node_command[node];
    const bool is_measured = node < measured.size() && measured[node] != kNone;
    if (is_measured) {
      set_cost(node, measured[node]);
      ++hints.measured;
    }
    if (recording.commands[command].kind != CommandKind::Dispatch) continue;
    const auto& dispatch = recording.payload<DispatchPayload>(command);
    const bool is_programmatic = recording.starts_programmatically(command);
    hints.starts[node] = is_programmatic ? NodeStart::Programmatic : NodeStart::Ordered;
    any_programmatic |= is_programmatic;
    if (dispatch.cost <= 0 || is_measured) continue;
    set_cost(node, cost_ns(static_cast<double>(dispatch.cost)));
    ++hints.hinted;
  }
  if (!any_programmatic) hints.starts.clear();
  if (known_costs.empty()) return hints;
  const auto median = known_costs.begin() + static_cast<std::ptrdiff_t>(known_costs.size() / 2);
  std::nth_element(known_costs.begin(), median, known_costs.end());
  for (std::uint32_t node = 0; node < dependencies.node_count(); ++node) {
    if (hints.costs[node] != kNone) continue;
    hints.costs[node] = dependencies.is_join[node] != 0 ? 0 : *median;
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

std::string name_of(const LoweringConfig& config) {
  std::string name(shape_name(config.shape));
  const bool is_cost_based = config.shape == LoweringConfig::Shape::CostBased;
  if (is_cost_based || config.shape == LoweringConfig::Shape::Lanes)
    name += std::to_string(config.lanes);
  if (is_cost_based) name += " by cost";
  if (config.starts == LoweringConfig::Starts::Ordered) name += ", ordered starts";
  return name;
}

LoweringConfig automatic_config(const DependencyGraph& dependencies, const NodeHints& hints) {
  LoweringConfig config;
  const std::uint32_t width = width_lower_bound(dependencies);
  if (!hints.costs.empty()) {
    if (width <= kAutoLanes && !has_many_joins(dependencies))
      return {.shape = LoweringConfig::Shape::EntryExit};
    config.lanes = lanes_for_costs(dependencies, kAutoLanes, hints.costs);
    config.shape =
        config.lanes < width ? LoweringConfig::Shape::CostBased : LoweringConfig::Shape::EntryExit;
    config.costs = hints.costs;
    return config;
  }
  config.shape =
      width > kAutoLanes ? LoweringConfig::Shape::Lanes : LoweringConfig::Shape::EntryExit;
  config.lanes = width > kAutoLanes ? kAutoLanes : 0;
  return config;
}

}  // namespace reprise::detail
