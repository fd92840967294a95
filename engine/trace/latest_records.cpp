#include "trace/latest_records.hpp"

#include <algorithm>

namespace reprise::trace {

void LatestRecords::add(Records& records) {
  for (Session& s : records.sessions) {
    if (std::find(sessions.begin(), sessions.end(), s) == sessions.end())
      sessions.push_back(std::move(s));
  }
  for (const ClockAlignment& a : records.clock_alignments) alignments[a.session] = a;
  for (Device& d : records.devices) devices[d.id] = std::move(d);
  for (Queue& q : records.queues) queues[q.id] = std::move(q);
  for (ThreadName& n : records.thread_names) thread_names[n.thread] = std::move(n);
  for (GraphVersion& g : records.graph_versions) {
    const std::pair key(g.graph, g.version);
    graphs[key] = std::move(g);
  }
  for (PoolState& p : records.pool_states) pools[p.pool] = std::move(p);
  for (const CreationCost& c : records.creation_costs) creation_costs[c.graph] = c;
  for (const DeviceTotals& d : records.device_totals) device_totals[d.device] = d;
}

}  // namespace reprise::trace
