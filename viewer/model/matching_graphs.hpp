// The graphs of several ranks that run the same collectives, and when each rank arrives at them.
// Threads: values and pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "model/collective_waits.hpp"
#include "model/document.hpp"

namespace reprise::model {

struct RankGraph {
  std::uint32_t session = 0;
  GraphKey graph;
  double in_collectives = -1;  // mean time in the collectives of a replay, ns; negative: unknown
};

// `graph`, and the graphs of other ranks that run a collective together with it: their collectives
// have an equal communicator and number. One per session, by rank. O(collectives of all graphs).
[[nodiscard]] std::vector<RankGraph> matching_graphs(const Document& document, GraphKey graph);

// The indices of at most `count` graphs, ascending: that of `shown`, and those with the shortest
// time in collectives, which arrive last. Unknown times rank last.
[[nodiscard]] std::vector<std::size_t> latest_to_arrive(std::span<const RankGraph> graphs,
                                                        GraphKey shown, std::size_t count);

using AwaitedArrivals = std::map<trace::CollectiveKey, AwaitedArrival>;  // members are sessions
// The awaited arrivals of one replay. Omits sends, receives and groups, whose waits are unknown.
[[nodiscard]] AwaitedArrivals awaited_arrivals(const Document& document,
                                               std::span<const RankGraph> graphs,
                                               std::uint64_t replay);

}  // namespace reprise::model
