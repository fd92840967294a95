// The lowerings that tuning tries. A pure function; knows no device.
#pragma once

#include <vector>

#include "lanes/lowering_choice.hpp"
#include "schedule/schedule.hpp"

namespace reprise::detail {

// Priorities: of nodes, on devices that have them.
enum class DevicePriorities : std::uint8_t { No, Yes };

// Each once; none of them has `hints.costs` where these are empty, and all of them are legal.
[[nodiscard]] std::vector<LoweringChoice> tuning_choices(const Schedule& schedule, const NodeHints& hints, DevicePriorities priorities);

}  // namespace reprise::detail
