// The commands of a graph with fault markers that were running when its device was lost.
// Threads: any thread.
#pragma once

#include <reprise/error.hpp>

#include "backend/backend.hpp"
#include "plan/plan.hpp"

namespace reprise::detail {

// `error`; for a DeviceLost and a plan with fault markers, with the commands that had started and
// not completed: indices in details().unfinished, names and replays in the text.
[[nodiscard]] Error add_unfinished(const Error& error, const Plan& plan, const BackendExec& exec);

}  // namespace reprise::detail
