// What the nodes of a plan cost on a device, from a few replays of an executable that notes it.
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

// What a time of a node that a stamp told is too long by: the stamp stands behind the node, and
// another node behind the stamp.
inline constexpr std::uint32_t kStampOverheadNs = 2 * kNodeLatencyNs;

// Makes a replay of `exec` and returns once it is over.
using ReplayOnce = std::function<void(BackendExec& exec)>;

// By schedule node, ns: medians of a few replays, without what noting a time takes itself. Empty
// where the device tells none. `bindings` are those of `plan`. Throws OutOfMemory, DeviceLost.
[[nodiscard]] std::vector<std::uint32_t> measure_node_costs(Backend& backend,
                                                            const std::shared_ptr<const Plan>& plan,
                                                            const Bindings& bindings,
                                                            const ReplayOnce& replay);

}  // namespace reprise::detail
