#include "model/graph_table.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <unordered_map>
#include <utility>

#include "trace/record_names.hpp"

namespace reprise::model {

using trace::Time;

namespace {

// A damaged trace can have any times.
Time length_of(Time from, Time to) { return to > from && from >= 0 ? to - from : 0; }

// Saturates: a damaged trace can have any values.
void add(std::int64_t& sum, std::int64_t value) {
  if (__builtin_add_overflow(sum, value, &sum))
    sum = value < 0 ? std::numeric_limits<std::int64_t>::min()
                    : std::numeric_limits<std::int64_t>::max();
}

void add(std::optional<std::int64_t>& sum, std::optional<std::int64_t> value) {
  if (!sum) {
    sum = value;
  } else if (value) {
    add(*sum, *value);
  }
}

void add(GraphTotals& sum, const GraphTotals& t) {
  sum.graphs += t.graphs;
  sum.never_replayed += t.never_replayed;
  sum.replays += t.replays;
  sum.nodes += t.nodes;
  sum.device_time += t.device_time;
  sum.slab_bytes += t.slab_bytes;
  for (Time GraphTotals::*time : {&GraphTotals::record, &GraphTotals::compile,
                                  &GraphTotals::instantiate, &GraphTotals::upload})
    add(sum.*time, t.*time);
  add(sum.capture_bytes, t.capture_bytes);
  add(sum.launch_bytes, t.launch_bytes);
}

void take(GraphTotals& totals, const trace::CreationCost& cost) {
  const auto known = [](std::int64_t bytes) {
    return bytes == trace::kUnknownBytes ? std::nullopt : std::optional(bytes);
  };
  totals.record = std::max<Time>(cost.capture_time, 0);
  totals.upload = std::max<Time>(cost.launch_time, 0);
  totals.capture_bytes = known(cost.capture_bytes);
  totals.launch_bytes = known(cost.launch_bytes);
}

// The host ranges that the engine names "record LABEL" and "upload LABEL".
class HostTimes {
 public:
  explicit HostTimes(const Document& document) {
    for (const trace::HostRange& range : document.host_ranges) {
      if (range.name.starts_with("upload ") && range.graph != trace::kNone)
        add(uploads_[range.graph], length_of(range.started, range.ended));
      if (range.name.starts_with("record "))
        records_[{document.session_of_thread(range.thread), range.name.substr(7)}].push_back(
            {range.ended, length_of(range.started, range.ended)});
    }
    for (auto& [label, ranges] : records_) std::sort(ranges.begin(), ranges.end());
  }

  [[nodiscard]] Time upload(std::uint32_t graph) const {
    const auto found = uploads_.find(graph);
    return found == uploads_.end() ? 0 : found->second;
  }
  // A range does not name its graph: it is the last of this label that ended before the graph was
  // compiled.
  [[nodiscard]] Time record(std::uint32_t session, const std::string& label, Time compiled) const {
    const auto found = records_.find({session, label});
    if (found == records_.end()) return 0;
    const auto after = std::upper_bound(
        found->second.begin(), found->second.end(), compiled,
        [](Time t, const std::pair<Time, Time>& range) { return t < range.first; });
    return after == found->second.begin() ? 0 : std::prev(after)->second;
  }

 private:
  std::unordered_map<std::uint32_t, Time> uploads_;
  // (end, length) by session and label
  std::map<std::pair<std::uint32_t, std::string>, std::vector<std::pair<Time, Time>>> records_;
};

// The name of the pool whose slabs hold each graph's transients, or which it references.
std::unordered_map<std::uint32_t, std::string> pool_names(const Document& document) {
  std::unordered_map<std::uint32_t, std::string> names;
  for (const auto& [key, use] : *document.pool_uses) {
    names.emplace(use.graph, document.pool_name(use.pool));
  }
  return names;
}

// All versions of a graph: [first, end) of the document's graphs.
using Entries = std::map<GraphKey, GraphEntry>::const_iterator;
GraphRow row_of(Entries first, Entries end, std::uint32_t session, const HostTimes& host) {
  GraphRow row;
  row.versions = 0;
  row.totals.graphs = 1;
  std::vector<Time> device, latency, gap;
  for (Entries at = first; at != end; ++at) {
    const auto& [key, entry] = *at;
    const trace::GraphVersion& record = entry.graph->record();
    ++row.versions;
    row.key = key;
    row.totals.replays += entry.replays.size() + entry.dropped_replays;
    GraphTotals prepared;
    prepared.record = host.record(session, record.label, record.compiled);
    prepared.compile = std::max<Time>(record.compile_time, 0);
    prepared.instantiate = std::max<Time>(record.instantiate_time, 0);
    add(row.totals, prepared);
    Time ended = 0;
    for (const trace::Replay& replay : entry.replays) {
      device.push_back(measure(replay, ReplayMeasure::DeviceTime));
      latency.push_back(measure(replay, ReplayMeasure::LaunchLatency));
      gap.push_back(gap_since_previous(replay, ended));
      ended = replay.ended;
    }
    row.sampled += count_sampled(entry.replays);
  }
  const Graph& newest = *std::prev(end)->second.graph;
  row.name = newest.name();
  row.edges = newest.record().edges.size();
  row.totals.nodes = newest.node_count();
  row.totals.slab_bytes = newest.record().slab_bytes;
  row.totals.upload = host.upload(row.key.graph);
  row.totals.never_replayed = row.totals.replays == 0 ? 1 : 0;
  const ReplayStatistics s = replay_statistics(device), l = replay_statistics(latency),
                         g = replay_statistics(gap);
  row.totals.device_time = s.total;
  if (s.count != 0) row.median = s.median, row.p99 = s.p99;
  if (l.count != 0) row.latency = l.median;
  if (g.count != 0) row.gap = g.median;
  return row;
}

bool same_grid(const trace::Node& a, const trace::Node& b) {
  return std::equal(a.grid, a.grid + 3, b.grid) && std::equal(a.block, a.block + 3, b.block);
}

// Counts the nodes in which any of the graphs differs from the first. Graphs of a family have nodes
// of the same kinds in the same order.
void find_differences(GraphFamily& family, const std::vector<const Graph*>& graphs) {
  const Graph& first = *graphs.front();
  std::vector<std::uint8_t> differs(first.node_count(), 0);  // bits: kernel, grid, bytes
  for (const Graph* graph : graphs) {
    if (graph == &first || graph->node_count() != first.node_count()) continue;
    for (std::uint32_t n = 0; n < first.node_count(); ++n) {
      const trace::Node &a = first.record().nodes[n], &b = graph->record().nodes[n];
      differs[n] |=
          static_cast<std::uint8_t>((graph->kernel_name(n) != first.kernel_name(n) ? 1 : 0) |
                                    (same_grid(a, b) ? 0 : 2) | (a.bytes != b.bytes ? 4 : 0));
    }
  }
  for (const std::uint8_t bits : differs) {
    family.other_kernels += bits & 1u;
    family.other_grids += bits >> 1 & 1u;
    family.other_bytes += bits >> 2 & 1u;
  }
}

}  // namespace

std::optional<std::int64_t> GraphTotals::memory_bytes() const {
  std::optional<std::int64_t> sum = capture_bytes;
  add(sum, launch_bytes);
  return sum;
}

Time GraphTotals::preparation() const noexcept {
  Time sum = 0;
  for (const Time time : {record, compile, instantiate, upload}) add(sum, time);
  return sum;
}

GraphTable graph_table(const Document& document) {
  GraphTable table;
  const bool has_ranks = document.has_ranks();
  if (has_ranks) {
    for (const trace::Session& session : *document.sessions)
      table.processes.push_back(trace::process_name(session));
  } else {
    table.processes = {document.process_name()};
  }
  const HostTimes host(document);
  const auto pools = pool_names(document);
  std::unordered_map<std::uint64_t, std::uint32_t> family_of;
  for (auto at = document.graphs.begin(); at != document.graphs.end();) {
    const auto first = at;
    while (at != document.graphs.end() && at->first.graph == first->first.graph) ++at;
    const std::uint32_t session = document.session_of(std::prev(at)->first);
    GraphRow row = row_of(first, at, session, host);
    if (has_ranks) row.process = session;
    if (const auto pool = pools.find(row.key.graph); pool != pools.end()) row.pool = pool->second;
    const auto cost = document.creation_costs->find(row.key.graph);
    if (cost != document.creation_costs->end()) take(row.totals, cost->second);
    const std::uint64_t topology = std::prev(at)->second.graph->topology();
    const auto [family, is_new] =
        family_of.emplace(topology, static_cast<std::uint32_t>(table.families.size()));
    if (is_new) table.families.push_back({.topology = topology});
    row.family = family->second;
    table.families[row.family].rows.push_back(static_cast<std::uint32_t>(table.rows.size()));
    add(table.totals, row.totals);
    table.rows.push_back(std::move(row));
  }
  const double whole = table.totals.device_time;
  const auto share = [&](GraphTotals& t) { t.share = whole > 0 ? t.device_time / whole : 0; };
  share(table.totals);
  for (GraphRow& row : table.rows) share(row.totals);
  for (GraphFamily& family : table.families) {
    std::vector<const Graph*> graphs;
    for (const std::uint32_t r : family.rows) {
      const GraphRow& row = table.rows[r];
      graphs.push_back(document.find(row.key)->graph.get());
      add(family.totals, row.totals);
      if (row.median < 0) continue;
      family.min_median =
          family.min_median < 0 ? row.median : std::min(family.min_median, row.median);
      family.max_median = std::max(family.max_median, row.median);
    }
    share(family.totals);
    find_differences(family, graphs);
    std::stable_sort(family.rows.begin(), family.rows.end(), [&](std::uint32_t a, std::uint32_t b) {
      return table.rows[a].totals.device_time > table.rows[b].totals.device_time;
    });
  }
  std::stable_sort(table.families.begin(), table.families.end(),
                   [](const GraphFamily& a, const GraphFamily& b) {
                     return a.totals.device_time > b.totals.device_time;
                   });
  for (std::uint32_t f = 0; f < table.families.size(); ++f) {
    for (const std::uint32_t r : table.families[f].rows) table.rows[r].family = f;
  }
  return table;
}

std::string family_name(const GraphTable& table, const GraphFamily& family) {
  const std::string& first = table.rows[family.rows.front()].name;
  if (family.rows.size() == 1) return first;
  std::size_t same = first.size();
  bool is_same_name = true;
  for (const std::uint32_t r : family.rows) {
    const std::string& name = table.rows[r].name;
    same = std::min(same, name.size());
    same = static_cast<std::size_t>(std::mismatch(first.begin(),
                                                  first.begin() + static_cast<std::ptrdiff_t>(same),
                                                  name.begin())
                                        .first -
                                    first.begin());
    is_same_name = is_same_name && name == first;
  }
  // A UTF-8 character is not split.
  while (same > 0 && same < first.size() &&
         (static_cast<unsigned char>(first[same]) & 0xc0) == 0x80)
    --same;
  if (!is_same_name && same == 0)
    return first + " and " + std::to_string(family.rows.size() - 1) + " more";
  return (is_same_name ? first : first.substr(0, same) + "*") + " (" +
         std::to_string(family.rows.size()) + " graphs)";
}

std::string differences_text(const GraphFamily& family) {
  std::string text;
  const auto add = [&](const char* what, std::uint64_t nodes) {
    if (nodes == 0) return;
    text += (text.empty() ? "" : ", ") + std::string(what) + " in " + std::to_string(nodes) +
            (nodes == 1 ? " node" : " nodes");
  };
  add("kernels", family.other_kernels);
  add("grids", family.other_grids);
  add("bytes", family.other_bytes);
  return text;
}

}  // namespace reprise::model
