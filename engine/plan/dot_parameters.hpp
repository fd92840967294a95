// What DotFlags add to a node of a plan's DOT. Pure functions.
#pragma once

#include <cstdint>
#include <string>

#include <reprise/dot.hpp>

#include "plan/plan.hpp"

namespace reprise::detail {

// Lines about one command, each with '\n' before it; empty where `flags` ask for nothing that it
// has.
[[nodiscard]] std::string dot_parameters(const Plan& plan, std::uint32_t command, DotFlags flags);

}  // namespace reprise::detail
