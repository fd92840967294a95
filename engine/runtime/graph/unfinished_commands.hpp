// Names the commands of a graph with fault markers that started and did not complete: after a
// device loss, or when the timeout of a fence passes. Threads: as BackendExec::unfinished_nodes().
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <reprise/error.hpp>

#include "backend/backend.hpp"
#include "plan/plan.hpp"

namespace reprise::detail {

struct UnfinishedCommands {
  std::vector<std::uint32_t> commands;  // that started
  // They, with their replays, and where blocks of segments wait.
  std::string text;
};
[[nodiscard]] UnfinishedCommands unfinished_commands(const Plan& plan, const BackendExec& exec);

// `error`; for a DeviceLost and a plan with fault markers, with the commands in
// details().unfinished and in the text.
[[nodiscard]] Error add_unfinished(const Error& error, const Plan& plan, const BackendExec& exec);

}  // namespace reprise::detail
