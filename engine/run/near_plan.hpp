// What of an earlier plan holds for a recording that is nearly the one it was made of. Each function gives exactly what the stage would give that
// it saves. Threads: pure functions.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "plan/plan.hpp"

namespace reprise::detail {

// `before` may be null.
[[nodiscard]] Schedule schedule_near(const Recording& recording, const Plan* before);

// The same nodes with the same edges between them, whatever they do. Where they are the same kinds of work too, both are lowered alike.
[[nodiscard]] bool same_structure(const Schedule& a, const Schedule& b);

// Of two recordings with schedules of the same structure, lowered as before.lowered is: the places of the transients, where those of both are as
// large, and used by the same nodes.
[[nodiscard]] std::optional<Placement> placement_near(const Recording& recording, const Schedule& schedule, const Plan& before,
                                                      std::uint32_t alignment);

// Of what the recording runs as a whole; null where `before` runs nothing of it.
[[nodiscard]] std::vector<std::shared_ptr<const Plan>> bodies_near(const Recording& recording, const Plan* before);

}  // namespace reprise::detail
