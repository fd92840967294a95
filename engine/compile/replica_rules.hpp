// The rule for recordings that several replicas replay at the same time: they write no memory that
// the replicas share, except to order collectives. Threads: a pure function.
#pragma once

#include <cstdint>
#include <string_view>

#include "record/recording.hpp"

namespace reprise::detail {

// Throws NotPerReplica, naming command and buffer, if a command writes memory of the caller, writes
// a persistent buffer without copies, or uses one with fewer than `replicas` copies; Unsupported if
// a host callback uses a buffer with copies. Accepts every recording for one replica.
void require_per_replica(const Recording& recording, std::uint32_t replicas,
                         std::string_view graph);

}  // namespace reprise::detail
