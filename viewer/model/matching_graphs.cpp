#include "model/matching_graphs.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

namespace reprise::model {

using trace::Collective;

namespace {

using CallNumber = std::pair<std::uint64_t, std::uint64_t>;  // communicator, number

CallNumber number_of(const Collective& one) { return {one.communicator, one.number}; }

double time_in_collectives(const GraphEntry& entry) {
  if (entry.statistics == nullptr) return -1;
  double time = 0;
  std::uint64_t samples = 0;
  for (const Collective& one : entry.graph->record().collectives) {
    if (one.node >= entry.statistics->nodes.size()) continue;
    const auto& times = entry.statistics->nodes[one.node].times;
    time += times.mean();
    samples += times.count();
  }
  return samples == 0 ? -1 : time;
}

}  // namespace

std::vector<RankGraph> matching_graphs(const Document& document, GraphKey graph) {
  const GraphEntry* const own = document.find(graph);
  if (own == nullptr) return {};
  const std::uint32_t own_session = document.session_of(graph);
  std::vector<RankGraph> graphs = {{own_session, graph, time_in_collectives(*own)}};
  std::set<CallNumber> wanted;
  for (const Collective& one : own->graph->record().collectives) wanted.insert(number_of(one));
  std::set<std::uint32_t> seen = {own_session};
  for (const auto& [key, entry] : document.graphs) {
    if (wanted.empty()) break;
    const auto& collectives = entry.graph->record().collectives;
    const bool matches =
        std::any_of(collectives.begin(), collectives.end(),
                    [&](const Collective& one) { return wanted.count(number_of(one)) != 0; });
    if (!matches) continue;
    const std::uint32_t session = document.session_of(key);
    if (seen.insert(session).second) graphs.push_back({session, key, time_in_collectives(entry)});
  }
  const auto rank_of = [&](const RankGraph& one) {
    const auto& sessions = *document.sessions;
    return one.session < sessions.size() ? sessions[one.session].rank : trace::kNone;
  };
  std::sort(graphs.begin(), graphs.end(), [&](const RankGraph& a, const RankGraph& b) {
    return std::pair(rank_of(a), a.session) < std::pair(rank_of(b), b.session);
  });
  return graphs;
}

std::vector<std::size_t> latest_to_arrive(std::span<const RankGraph> graphs, GraphKey shown,
                                          std::size_t count) {
  std::vector<std::size_t> order(graphs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto place = [&](std::size_t i) {
    const double time = graphs[i].in_collectives;
    return std::tuple(!(graphs[i].graph == shown),
                      time < 0 ? std::numeric_limits<double>::infinity() : time, i);
  };
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return place(a) < place(b); });
  order.resize(std::min(count, order.size()));
  std::sort(order.begin(), order.end());
  return order;
}

AwaitedArrivals awaited_arrivals(const Document& document, std::span<const RankGraph> graphs,
                                 std::uint64_t replay) {
  AwaitedArrivals result;
  for (const RankGraph& each : graphs) {
    const GraphEntry* const entry = document.find(each.graph);
    if (entry == nullptr) continue;
    const auto& runs = entry->collectives;
    for (std::size_t i = runs.lower_bound(
             replay,
             [](const trace::CollectiveRun&run, std::uint64_t n) { return run.key.replay < n; });
         i < runs.size() && runs[i].key.replay == replay; ++i) {
      const Collective& call = entry->graph->record().collectives[runs[i].collective];
      const WaitRole role = wait_role(call);
      if (role.waits || role.is_awaited)
        result[runs[i].key].add(call, each.session, runs[i].started);
    }
  }
  return result;
}

}  // namespace reprise::model
