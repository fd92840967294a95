// Comparisons of a graph's collectives with those of the other ranks. Threads: any thread; the
// caller holds no lock that a launch needs.
#pragma once

#include <functional>
#include <string_view>

#include "plan/collectives.hpp"

namespace reprise::detail {

// A collective call if the recording has collectives, in its bodies too; returns them. See
// RankAgreement.
[[nodiscard]] LaunchedCollectives compare_collectives(std::string_view graph,
                                                      const Recording& recording);

// Calls make(), as all ranks of the collectives do. If it fails on one of them, it throws RankLost
// on the others.
void make_on_all_ranks(const LaunchedCollectives& collectives, const std::function<void()>& make);

// Throws Unsupported (Stage::Validate), which names the command, if the recording has collectives.
// `verb` and `reason`: "find_races", "it repeats commands in other orders".
void require_no_collectives(const Recording& recording, std::string_view verb,
                            std::string_view reason);

}  // namespace reprise::detail
