// Ranks that are threads of one process, for tests. Threads: any.
#pragma once

#include <cstdint>
#include <vector>

#include <reprise/collectives.hpp>

namespace reprise::detail {

// The communicators of `ranks` ranks of the host device, by rank. Each rank records and launches
// its own graphs, on its own queue; compile() blocks until every rank has called it, on other
// threads. Throws InvalidArgument unless `ranks` is 1 to kMaxLocalRanks (local_transport.hpp),
// Unsupported on a GPU.
[[nodiscard]] std::vector<Communicator> local_communicators(const Device& host, std::uint32_t ranks,
                                                            const CommunicatorDesc& desc = {});

}  // namespace reprise::detail
