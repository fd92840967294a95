#include "profile/replay_times.hpp"

#include <algorithm>

#include "plan/timing_layout.hpp"

namespace reprise::detail {

ReplayTimes::ReplayTimes(const Plan& plan)
    : lowered_node_(plan.lowered.node_of), times_(timing_layout(plan).slots) {}

void ReplayTimes::open(std::uint32_t replays) {
  durations_.resize(replays * lowered_node_.size(), kNone);
  replays_ = replays;
}

std::vector<std::uint32_t> ReplayTimes::node_costs(std::uint32_t overhead) const {
  std::vector<std::uint32_t> costs(lowered_node_.size(), 0), of_node;
  const std::uint32_t replays = noted();
  for (std::size_t node = 0; node < costs.size(); ++node) {
    of_node.clear();
    for (std::uint32_t replay = 0; replay < replays; ++replay) {
      const std::uint32_t duration = durations_[replay * costs.size() + node];
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
  if (noted() == replays_) return nullptr;
  std::fill(times_.begin(), times_.end(), NodeTime{});
  return times_.data();
}

void ReplayTimes::end_replay(std::uint64_t, std::int64_t, std::int64_t ended,
                             NodeTime* nodes) noexcept {
  const std::uint32_t at = noted();
  if (nodes == nullptr || ended == 0 || at == replays_) return;
  for (std::size_t node = 0; node < lowered_node_.size(); ++node) {
    const NodeTime& time = nodes[lowered_node_[node]];
    if (time.started != 0)
      durations_[at * lowered_node_.size() + node] = std::min(time.duration, kNone - 1);
  }
  noted_.store(at + 1, std::memory_order_release);
}

}  // namespace reprise::detail
