// What a recording may do that replays at once in several instances: it writes no memory that all
// of them share. Threads: a pure function.
#pragma once

#include <cstdint>
#include <string_view>

#include "record/recording.hpp"

namespace reprise::detail {

// Throws NotPerReplica, naming command and buffer, where a command writes memory of the caller, or
// a persistent buffer that has no copy for each of `instances`, or uses one that has some but too
// few; Unsupported where a host callback uses one that has.
void require_per_replica(const Recording& recording, std::uint32_t replicas,
                         std::string_view graph);

}  // namespace reprise::detail
