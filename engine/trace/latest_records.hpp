// LatestRecords: of the records that others refer to by id, the latest one of each id. Knows
// nothing about the ends of objects and about times: records follow each other in the order of
// add(). Threads: one at a time.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "trace/codec.hpp"

namespace reprise::trace {

template <class T>
using ById = std::map<std::uint32_t, T>;

struct LatestRecords {
  std::vector<Session> sessions;    // each once; other records name them by index
  ById<ClockAlignment> alignments;  // by session
  ById<Device> devices;
  ById<Queue> queues;
  ById<ThreadName> thread_names;
  std::map<std::pair<std::uint32_t, std::uint32_t>, GraphVersion> graphs;  // by graph and version
  ById<PoolState> pools;
  ById<CreationCost> creation_costs;  // by graph
  ById<DeviceTotals> device_totals;

  // Adds records that follow all added before, and moves from them; leaves the other kinds alone.
  void add(Records& records);
};

}  // namespace reprise::trace
