#include "tune/node_costs.hpp"

#include "profile/replay_times.hpp"

namespace reprise::detail {

namespace {

constexpr std::uint32_t kReplays = 5;
constexpr std::uint32_t kMaxTimedReplays = 64;  // until enough times have arrived

}  // namespace

std::vector<std::uint32_t> measure_node_costs(Backend& backend,
                                              const std::shared_ptr<const Plan>& plan,
                                              const Bindings& bindings,
                                              const CostReplays& replays) {
  ReplayTimes times(*plan);
  const std::unique_ptr<BackendExec> exec =
      backend.instantiate(plan, bindings, Instrumentation::Timestamps);
  if (const std::shared_ptr<ReplaySource> source = exec->replay_source()) {
    replays.run(*exec);  // one-time costs of a first replay
    static_cast<void>(source->collect(times));
    times.open(kReplays);
    source->time_nodes(kReplays, ReplaySource::Precision::Cheap);
    for (std::uint32_t i = 0;
         i < kMaxTimedReplays && replays.goes_on(source->is_timing_nodes() || !times.is_full());
         ++i) {
      replays.run(*exec);
      static_cast<void>(source->collect(times));
    }
    return times.noted() == 0 ? std::vector<std::uint32_t>()
                              : times.node_costs(kTimestampOverheadNs);
  }
  if (!exec->observe(times)) return {};
  times.open(kReplays);
  for (std::uint32_t i = 0; i < kReplays; ++i) replays.run(*exec);
  return times.node_costs(0);
}

}  // namespace reprise::detail
