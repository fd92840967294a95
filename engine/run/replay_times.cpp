#include "run/replay_times.hpp"

#include <algorithm>

#include "plan/time_slots.hpp"

namespace reprise::detail {

ReplayTimes::ReplayTimes(const Plan& plan) : lowered_node_(plan.lowered.node_of), times_(time_slots(plan).slots) {}

void ReplayTimes::open(std::uint32_t replays, Nodes nodes) {
  auto window = std::make_unique<Window>();
  window->nodes = nodes;
  window->durations.resize(replays);
  if (nodes == Nodes::Yes) window->of_nodes.resize(replays * lowered_node_.size(), kNone);
  windows_.push_back(std::move(window));
  window_.store(windows_.back().get(), std::memory_order_release);
}

std::uint32_t ReplayTimes::noted() const noexcept { return windows_.empty() ? 0 : windows_.back()->noted.load(std::memory_order_acquire); }

bool ReplayTimes::is_full() const noexcept { return !windows_.empty() && noted() == windows_.back()->durations.size(); }

std::vector<double> ReplayTimes::durations() const {
  if (windows_.empty()) return {};
  const std::vector<double>& all = windows_.back()->durations;
  return {all.begin(), all.begin() + noted()};
}

std::vector<std::uint32_t> ReplayTimes::node_costs(std::uint32_t overhead) const {
  std::vector<std::uint32_t> costs(lowered_node_.size(), 0), of_node;
  const std::uint32_t replays = noted();
  for (std::size_t node = 0; node < costs.size(); ++node) {
    of_node.clear();
    for (std::uint32_t replay = 0; replay < replays; ++replay) {
      const std::uint32_t duration = windows_.back()->of_nodes[replay * costs.size() + node];
      if (duration != kNone) of_node.push_back(duration);
    }
    if (of_node.empty()) continue;
    const auto middle = of_node.begin() + static_cast<std::ptrdiff_t>(of_node.size() / 2);
    std::nth_element(of_node.begin(), middle, of_node.end());
    costs[node] = *middle > overhead ? *middle - overhead : 0;
  }
  return costs;
}

NodeTime* ReplayTimes::begin_replay(std::uint64_t) noexcept {
  const Window* const window = window_.load(std::memory_order_acquire);
  if (window == nullptr || window->nodes == Nodes::No || is_full(*window)) return nullptr;
  std::fill(times_.begin(), times_.end(), NodeTime{});
  return times_.data();
}

void ReplayTimes::end_replay(std::uint64_t, std::int64_t started, std::int64_t ended, NodeTime* nodes) noexcept {
  Window* const window = window_.load(std::memory_order_acquire);
  if (window == nullptr || ended == 0 || is_full(*window)) return;
  if ((window->nodes == Nodes::Yes) != (nodes != nullptr)) return;
  const std::uint32_t at = window->noted.load(std::memory_order_relaxed);
  window->durations[at] = static_cast<double>(ended - started);
  for (std::size_t node = 0; nodes != nullptr && node < lowered_node_.size(); ++node) {
    const NodeTime& time = nodes[lowered_node_[node]];
    if (time.started != 0) window->of_nodes[at * lowered_node_.size() + node] = std::min(time.duration, kNone - 1);
  }
  window->noted.store(at + 1, std::memory_order_release);
}

}  // namespace reprise::detail
