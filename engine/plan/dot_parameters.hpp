// Node details that DotFlags add to a plan's DOT output. Threads: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <reprise/dot.hpp>

#include "plan/plan.hpp"

namespace reprise::detail {

// Throws InvalidArgument for a bit that is none of DotFlags. `label`: of the graph.
void require_flags(DotFlags flags, std::string_view label);

// Returns lines about one command, each preceded by a newline; empty if `flags` select nothing that
// the command has.
[[nodiscard]] std::string dot_parameters(const Plan& plan, std::uint32_t command, DotFlags flags);

}  // namespace reprise::detail
