#include "lowering/tuning_candidates.hpp"

#include <algorithm>
#include <utility>

#include "lowering/cost_schedule.hpp"
#include "lowering/list_schedule.hpp"

namespace reprise::detail {

namespace {

constexpr std::uint32_t kLanes[] = {4, 8, 16, 32, 64, 128};
// The best cost-based lane count is often between powers of two.
constexpr std::uint32_t kCostBasedLanes[] = {4, 6, 8, 12, 16, 24, 32, 48, 64, 128};

}  // namespace

std::vector<LoweringConfig> tuning_candidates(const DependencyGraph& dependencies,
                                              const NodeHints& hints) {
  using Shape = LoweringConfig::Shape;
  const std::uint32_t width = width_lower_bound(dependencies);
  std::vector<LoweringConfig> configs;
  const auto add = [&](LoweringConfig config) {
    if (std::find(configs.begin(), configs.end(), config) == configs.end())
      configs.push_back(std::move(config));
  };
  const auto lanes = [&](Shape shape, std::uint32_t count) {
    LoweringConfig config{.shape = shape, .lanes = count};
    if (shape == Shape::CostBased) config.costs = hints.costs;
    return config;
  };
  add({.shape = Shape::Faithful});
  add({.shape = Shape::EntryExit});
  if (!hints.segment_blocks.empty())
    add({.shape = Shape::Segments, .lanes = hints.segment_lists, .costs = hints.costs});
  // More lanes than the width bring nothing.
  const auto is_too_many = [&](std::uint32_t count) { return count > 4 && count >= 2 * width; };
  for (const std::uint32_t count : kLanes) {
    if (!is_too_many(count)) add(lanes(Shape::Lanes, count));
  }
  for (const std::uint32_t count : kCostBasedLanes) {
    if (!hints.costs.empty() && !is_too_many(count)) add(lanes(Shape::CostBased, count));
  }
  if (!hints.starts.empty())
    add({.shape = Shape::EntryExit, .starts = LoweringConfig::Starts::Ordered});
  return configs;
}

}  // namespace reprise::detail
