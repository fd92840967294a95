// Measures the costs of a plan's nodes with a few replays of an instrumented executable.
// Threads: one at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "backend/backend.hpp"
#include "lowering/cost_schedule.hpp"
#include "plan/plan.hpp"

namespace reprise::detail {

struct CostReplays {
  // Launches `exec` and returns after its completion.
  std::function<void(BackendExec& exec)> run;
  // Whether another replay follows, up to a limit: decides it for all ranks that replay together.
  std::function<bool(bool lacks_times)> goes_on;
};

// Costs in ns by dependency node: medians of a few replays, without the measurement's own cost.
// Empty if the device cannot measure nodes. `bindings` are those of `plan`. Throws OutOfMemory,
// DeviceLost.
[[nodiscard]] std::vector<std::uint32_t> measure_node_costs(Backend& backend,
                                                            const std::shared_ptr<const Plan>& plan,
                                                            const Bindings& bindings,
                                                            const CostReplays& replays);

}  // namespace reprise::detail
