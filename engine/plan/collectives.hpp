// The collectives of a recording: ops that run only together with those of other ranks. Threads:
// pure functions, except for compare_collectives() and make_on_all_ranks().
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include <reprise/graph_op.hpp>

#include "record/recording.hpp"

namespace reprise::detail {

// What a graph with collectives tells the other ranks at each launch.
struct LaunchedCollectives {
  std::vector<RankAgreement*> ranks;  // of each job; empty: the graph has no collectives
  std::uint64_t hash = 0;
};
[[nodiscard]] LaunchedCollectives launched_collectives(const Recording& recording);

// A collective call if the recording has collectives, in its bodies too. See RankAgreement.
void compare_collectives(std::string_view graph, const Recording& recording);

// Calls make(), as all ranks of the collectives do. If it fails on one of them, it throws RankLost
// on the others.
void make_on_all_ranks(const LaunchedCollectives& collectives, const std::function<void()>& make);

// Throws Unsupported (Stage::Validate), which names the command, if the recording has collectives.
// `verb` and `reason`: "find_races", "it repeats commands in other orders".
void require_no_collectives(const Recording& recording, std::string_view verb,
                            std::string_view reason);

}  // namespace reprise::detail
