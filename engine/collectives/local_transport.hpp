// HostTransport between threads of one process. It copies directly between the ranks' buffers: once
// all ranks have started a collective, whichever rank polls moves the next chunks, so one polling
// rank suffices for progress, and several share the work. Reductions run in the order of the ranks,
// ((r0 + r1) + r2), so the result is the same on all ranks and each time.
//
// Ranks that start different calls get RankMismatch, which names both. A rank whose transport is
// destroyed has ended: operations that wait for it throw RankLost. An operation that is destroyed
// before it is complete aborts the transports; its destructor returns once no other rank accesses
// its buffers.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "collectives/host_transport.hpp"

namespace reprise::detail {

constexpr std::uint32_t kMaxLocalRanks = 1024;

// The transports of `size` ranks, by rank, in memory that grows with `size`. split() blocks until
// all ranks have called it, so each rank calls it on a thread of its own. Throws InvalidArgument
// unless `size` is 1 to kMaxLocalRanks.
[[nodiscard]] std::vector<std::unique_ptr<HostTransport>> make_local_transports(std::uint32_t size);

}  // namespace reprise::detail
