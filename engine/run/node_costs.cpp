#include "run/node_costs.hpp"

#include <algorithm>
#include <mutex>

#include "lanes/cost_schedule.hpp"
#include "plan/time_slots.hpp"

namespace reprise::detail {

namespace {

constexpr std::uint32_t kReplays = 5;
constexpr std::uint32_t kMostTimedReplays = 64;  // until their times are there

// Keeps the durations of each node.
class CostObserver final : public ReplayObserver {
 public:
  explicit CostObserver(const Plan& plan) : plan_(plan), times_(time_slots(plan).slots), durations_(plan.schedule.node_count()) {
    for (auto& of_node : durations_) of_node.reserve(kMostTimedReplays);
  }

  [[nodiscard]] NodeTime* begin_replay(std::uint64_t) noexcept override {
    std::fill(times_.begin(), times_.end(), NodeTime{});
    return times_.data();
  }
  void end_replay(std::uint64_t, std::int64_t, std::int64_t ended, NodeTime* nodes) noexcept override {
    const std::lock_guard lock(mutex_);
    if (nodes == nullptr || ended == 0 || replays_ >= kMostTimedReplays) return;
    ++replays_;
    for (std::size_t i = 0; i < plan_.lowered.nodes.size(); ++i) {
      const std::uint32_t node = plan_.lowered.nodes[i].schedule_node;
      if (node != kNone && nodes[i].started != 0) durations_[node].push_back(nodes[i].duration);
    }
  }

  [[nodiscard]] std::uint32_t replays() const {
    const std::lock_guard lock(mutex_);
    return replays_;
  }
  // `overhead`: of noting a time.
  [[nodiscard]] std::vector<std::uint32_t> medians(std::uint32_t overhead) {
    const std::lock_guard lock(mutex_);
    std::vector<std::uint32_t> costs(durations_.size(), 0);
    for (std::size_t node = 0; node < costs.size(); ++node) {
      std::vector<std::uint32_t>& all = durations_[node];
      if (all.empty()) continue;
      const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
      std::nth_element(all.begin(), middle, all.end());
      costs[node] = *middle > overhead ? *middle - overhead : 0;
    }
    return costs;
  }

 private:
  const Plan& plan_;
  mutable std::mutex mutex_;
  std::vector<NodeTime> times_;                        // of the replay that is told of, with those of bodies
  std::vector<std::vector<std::uint32_t>> durations_;  // by schedule node
  std::uint32_t replays_ = 0;
};

}  // namespace

std::vector<std::uint32_t> measure_node_costs(Backend& backend, const std::shared_ptr<const Plan>& plan, const Bindings& bindings,
                                              const ReplayOnce& replay) {
  CostObserver observer(*plan);
  const std::unique_ptr<BackendExec> exec = backend.instantiate(plan, bindings, Instruments::Stamps);
  if (const std::shared_ptr<ReplaySource> source = exec->replay_source()) {
    replay(*exec);  // everything that a first replay does once
    static_cast<void>(source->collect(observer));
    source->time_nodes(kReplays, ReplaySource::Closeness::Cheap);
    for (std::uint32_t i = 0; i < kMostTimedReplays && (source->is_timing_nodes() || observer.replays() < kReplays); ++i) {
      replay(*exec);
      static_cast<void>(source->collect(observer));
    }
    // A stamp stands behind each node, and another node behind the stamp.
    if (observer.replays() == 0) return {};
    return observer.medians(2 * kNodeLatencyNs);
  }
  if (!exec->observe(observer)) return {};
  for (std::uint32_t i = 0; i < kReplays; ++i) replay(*exec);
  return observer.medians(0);
}

}  // namespace reprise::detail
