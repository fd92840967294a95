#include <algorithm>
#include <cstdio>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "cli/rank_stats.hpp"
#include "cli/stats.hpp"
#include "cli/text.hpp"
#include "trace/record_names.hpp"

namespace reprise::cli {

namespace {

std::string rank_text(const trace::Session& session) {
  return session.rank == trace::kNone ? "" : ", rank " + std::to_string(session.rank);
}

std::vector<std::string> time_row(std::string what, const model::ReplayStatistics& times) {
  const auto us = [](trace::Time t) { return microseconds(static_cast<double>(t)); };
  return {std::move(what),
          with_separators(times.count),
          microseconds(times.mean),
          us(times.median),
          us(times.p90),
          us(times.p99),
          us(times.max)};
}

// ", rank 3"; empty unless the trace has ranks.
std::string rank_suffix(const Stats& stats, model::GraphKey graph) {
  const model::Document& d = *stats.document;
  return d.has_ranks() ? ", " + d.rank_name(d.session_of(graph)) : "";
}

void print_omitted(std::size_t all, std::size_t shown, const char* singular) {
  if (shown < all)
    write_out("  ... %s more; --top 0 prints all\n", counted(all - shown, singular).c_str());
}

// The parts that lengthen the replay most: "gap before blur +34.950, load +0.500".
std::string largest_parts(const model::Graph& graph, const model::Slowdown& slowdown) {
  constexpr std::size_t kParts = 3;
  std::string text;
  std::size_t count = 0;
  for (const model::SlowdownPart& part : slowdown.parts) {
    if (part.excess() <= 0 || count == kParts) continue;
    text += (count++ == 0 ? "" : ", ") + printable(model::part_name(graph, part)) + " " +
            signed_microseconds(part.excess());
  }
  return text;
}

void print_slowest(const Stats& stats, const StatsOptions& options,
                   const model::GraphEntry& entry) {
  constexpr std::size_t kReplays = 5;
  if (entry.replays.size() < 2) return;
  Table table(4, {"replay", "us", "vs. median us", "largest slowdowns us"});
  for (const model::Slowdown& s :
       slowest_of(stats, entry, std::min(kReplays, options.limit(kReplays)))) {
    table.add({with_separators(s.replay), microseconds(s.time), signed_microseconds(s.difference()),
               largest_parts(*entry.graph, s)});
  }
  if (!table.empty()) write_out("\n  Slowest replays on the device\n%s", table.text().c_str());
}

}  // namespace

void print_slowdown(const StatsOptions& options, const model::GraphEntry& entry,
                    const model::Slowdown& slowdown) {
  const model::Graph& graph = *entry.graph;
  write_out("%s (graph %u, version %u), replay %s: %s us, median %s us\n",
            printable(graph.name()).c_str(), graph.key().graph, graph.key().version,
            with_separators(slowdown.replay).c_str(), microseconds(slowdown.time).c_str(),
            microseconds(slowdown.median).c_str());
  Table table(1, {"part", "us", "median us", "vs. median us"});
  const std::size_t shown = options.limit(slowdown.parts.size());
  double others = 0;
  for (std::size_t i = 0; i < slowdown.parts.size(); ++i) {
    const model::SlowdownPart& part = slowdown.parts[i];
    if (i >= shown) {
      others += part.excess();
      continue;
    }
    table.add({model::part_name(graph, part), microseconds(part.time), microseconds(part.median),
               signed_microseconds(part.excess())});
  }
  if (shown < slowdown.parts.size())
    table.add({counted(slowdown.parts.size() - shown, "other part"), "", "",
               signed_microseconds(others)});
  table.add({"remainder", "", "", signed_microseconds(slowdown.remainder)});
  table.add({"all", microseconds(slowdown.time), microseconds(slowdown.median),
             signed_microseconds(slowdown.difference())});
  write_out("%s", table.text().c_str());
}

namespace {

constexpr const char* kAbsent = "-";

std::string known_microseconds(double ns) { return ns < 0 ? kAbsent : microseconds(ns); }
std::string spent(trace::Time ns) {
  return ns == 0 ? kAbsent : microseconds(static_cast<double>(ns));
}
std::string taken(std::optional<std::int64_t> change) {
  if (!change) return kAbsent;
  const auto magnitude = static_cast<std::uint64_t>(*change);
  return *change < 0 ? "-" + bytes(~magnitude + 1) : bytes(magnitude);
}

std::vector<std::string> graph_row(const std::string& name, const model::GraphTotals& totals,
                                   const std::string& median, trace::Time p99, trace::Time latency,
                                   trace::Time gap) {
  return {name,
          totals.replays == 0 ? "never" : with_separators(totals.replays),
          median,
          known_microseconds(static_cast<double>(p99)),
          totals.device_time > 0 ? microseconds(totals.device_time) : kAbsent,
          totals.device_time > 0 ? percent(totals.share) : kAbsent,
          known_microseconds(static_cast<double>(latency)),
          known_microseconds(static_cast<double>(gap)),
          with_separators(totals.nodes),
          totals.slab_bytes == 0 ? kAbsent : bytes(totals.slab_bytes),
          taken(totals.memory_bytes()),
          taken(totals.launch_bytes),
          spent(totals.record),
          spent(totals.compile),
          spent(totals.instantiate),
          spent(totals.upload)};
}

// Families and, if there are few, their graphs.
void print_graphs(const Stats& stats, const StatsOptions& options) {
  const model::GraphTable& all = stats.table;
  if (all.rows.size() < 2) return;
  const bool is_long = all.rows.size() > kMaxSections;
  Table table(1, {"", "replays", "median us", "p99 us", "total us", "share", "latency us", "gap us",
                  "nodes", "slab", "memory", "launch mem.", "record us", "compile us",
                  "instantiate us", "upload us"});
  const std::size_t shown = is_long ? options.limit(all.families.size()) : all.families.size();
  for (std::size_t f = 0; f < shown; ++f) {
    const model::GraphFamily& family = all.families[f];
    const bool is_family = family.rows.size() > 1;
    if (is_family) {
      const auto shortest = static_cast<double>(family.min_median),
                 longest = static_cast<double>(family.max_median);
      table.add(
          graph_row(model::family_name(all, family), family.totals,
                    shortest < 0 ? kAbsent : microseconds(shortest) + " - " + microseconds(longest),
                    -1, -1, -1));
    }
    if (is_family && is_long) continue;
    for (const std::uint32_t r : family.rows) {
      const model::GraphRow& row = all.rows[r];
      table.add(graph_row((is_family ? "  " : "") + row.name + rank_suffix(stats, row.key),
                          row.totals, known_microseconds(static_cast<double>(row.median)), row.p99,
                          row.latency, row.gap));
    }
  }
  const model::GraphTotals& t = all.totals;
  table.add(graph_row("total of " + counted(t.graphs, "graph"), t, kAbsent, -1, -1, -1));
  table.remove_columns(kAbsent);
  write_out("\nGraphs\n%s", table.text().c_str());
  print_omitted(all.families.size(), shown, "family or graph");
  if (t.never_replayed != 0)
    write_out("  %s never replayed\n", counted(t.never_replayed, "graph").c_str());
  if (stats.sections.empty()) write_out("  --graph NAME prints the statistics of one graph\n");
}

// Node time by kind, such as GEMM and copy.
void print_kinds(const Stats& stats, const StatsOptions& options) {
  Table table(1, {"kind", "nodes", "samples", "total us", "mean us", "share"});
  for (const model::NodeGroup& kind : kinds_of(stats, options)) {
    table.add({kind.name, with_separators(kind.nodes), with_separators(kind.samples),
               microseconds(kind.total), microseconds(kind.mean()), percent(kind.share)});
  }
  if (!table.empty()) write_out("\nNode time by kind\n%s", table.text().c_str());
}

// "record 61.200 ms, instantiate 1.250 ms; device memory 18.0 MiB"; empty if nothing is known.
std::string preparation_text(const model::GraphTotals& t) {
  std::string text;
  for (const auto& [what, time] :
       {std::pair("record", t.record), std::pair("compile", t.compile),
        std::pair("instantiate", t.instantiate), std::pair("upload", t.upload)}) {
    if (time != 0)
      text += (text.empty() ? "" : ", ") + std::string(what) + " " +
              duration(static_cast<double>(time));
  }
  if (t.memory_bytes())
    text += (text.empty() ? "" : "; ") + std::string("device memory ") + taken(t.memory_bytes());
  if (t.launch_bytes) text += ", " + taken(t.launch_bytes) + " of it by the first launch";
  return text;
}

void print_graph(const Stats& stats, const StatsOptions& options, const model::GraphEntry& entry) {
  const model::Graph& graph = *entry.graph;
  const model::GraphKey key = graph.key();
  const std::string device = device_of(stats, entry);
  const std::uint32_t lanes = graph.record().lanes;
  write_out("\n%s (graph %u, version %u)%s%s%s: %s, %s, %s\n", printable(graph.name()).c_str(),
            key.graph, key.version, rank_suffix(stats, key).c_str(), device.empty() ? "" : " on ",
            printable(device).c_str(), counted(graph.node_count(), "node").c_str(),
            counted(graph.record().edges.size(), "edge").c_str(),
            lanes == 0 ? "no lanes" : counted(lanes, "lane").c_str());
  const std::size_t untimed =
      model::replay_statistics(entry.replays, model::ReplayMeasure::DeviceTime).unknown;
  const std::uint64_t lost = entry.statistics->lost();
  write_out("  %s, %s sampled", counted(entry.replays.size(), "replay").c_str(),
            with_separators(model::count_sampled(entry.replays)).c_str());
  if (untimed != 0) write_out(", %s untimed", with_separators(untimed).c_str());
  write_out("; %s", counted(entry.statistics->samples + lost, "node sample").c_str());
  if (lost != 0) write_out(", %s untimed", with_separators(lost).c_str());
  write_out("\n");
  for (const model::GraphRow& row : stats.table.rows) {
    if (row.key != key) continue;
    if (const std::string text = preparation_text(row.totals); !text.empty())
      write_out("  preparation: %s\n", text.c_str());
  }
  if (const std::uint64_t changes = graph.changes(); changes != 0) {
    write_out("  parameters: %s of %s; the latest values are known\n",
              counted(changes, "change").c_str(),
              counted(graph.record().changes.size(), "node").c_str());
  }
  constexpr std::size_t kLines = 5;
  const std::vector<model::Graph::LaunchLine> lines = graph.launch_lines();
  for (std::size_t i = 0; i < std::min(lines.size(), kLines); ++i)
    write_out("%s%s (%s)", i == 0 ? "  launched by " : ", ", lines[i].text.c_str(),
              counted(lines[i].launches, "replay").c_str());
  if (lines.size() > kLines)
    write_out(" and %s", counted(lines.size() - kLines, "further line").c_str());
  if (!lines.empty()) write_out("\n");

  Table times(1, {"", "count", "mean us", "p50 us", "p90 us", "p99 us", "max us"});
  for (const auto& [name, measure] :
       {std::pair("device time", model::ReplayMeasure::DeviceTime),
        std::pair("launch call", model::ReplayMeasure::LaunchCall),
        std::pair("launch-to-start latency", model::ReplayMeasure::LaunchLatency)}) {
    const model::ReplayStatistics s = model::replay_statistics(entry.replays, measure);
    if (s.count != 0) times.add(time_row(name, s));
  }
  if (!times.empty()) write_out("%s", times.text().c_str());

  const std::vector<model::NodeFigures> figures = model::node_figures(graph, *entry.statistics);
  std::vector<std::uint32_t> nodes;
  for (std::uint32_t n = 0; n < figures.size(); ++n) {
    if (figures[n].count != 0 || figures[n].lost != 0) nodes.push_back(n);
  }
  std::stable_sort(nodes.begin(), nodes.end(), [&](std::uint32_t a, std::uint32_t b) {
    return figures[a].total > figures[b].total;
  });
  for (const LoopSummary& l : loops_of(entry)) {
    if (l.replays == 0) continue;
    write_out("  %s (node %u): %s to %s iterations in %s, %.2f on average",
              printable(graph.node_name(l.node)).c_str(), l.node, with_separators(l.min).c_str(),
              with_separators(l.max).c_str(), counted(l.replays, "replay").c_str(),
              static_cast<double>(l.iterations) / static_cast<double>(l.replays));
    if (l.timed != l.iterations)
      write_out("; %s not measured", with_separators(l.iterations - l.timed).c_str());
    write_out("\n");
  }
  Table table(3, {"node", "name", "label", "count", "median us", "p99 us", "share"});
  const std::size_t shown = options.limit(nodes.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const std::uint32_t n = nodes[i];
    const model::NodeFigures& f = figures[n];
    table.add({std::to_string(n), graph.node_name(n),
               graph.label_path(graph.record().nodes[n].label), with_separators(f.count),
               microseconds(f.median), microseconds(f.p99), percent(f.share)});
  }
  if (!table.empty()) write_out("\n%s", table.text().c_str());
  print_omitted(nodes.size(), shown, "node");
  print_slowest(stats, options, entry);
}

// "3: forward, backward, step".
std::string graphs_text(const Stats& stats, const std::vector<std::uint32_t>& graphs) {
  std::string names;
  for (const std::uint32_t graph : graphs) {
    const auto found = stats.document->graphs.lower_bound({graph, 0});
    const bool is_known = found != stats.document->graphs.end() && found->first.graph == graph;
    names += (names.empty() ? ": " : ", ") +
             (is_known ? printable(found->second.graph->name()) : "graph " + std::to_string(graph));
  }
  return with_separators(graphs.size()) + names;
}

// The graphs whose transient buffers share slabs of a pool, or shared them before.
void print_sharing(const Stats& stats, const trace::PoolState& pool) {
  const model::Document& document = *stats.document;
  using Uses = model::Document::Uses;
  for (const Uses uses : {Uses::Current, Uses::Former}) {
    const auto graphs = document.users_of(pool.pool, trace::PoolRole::Sharer, uses);
    if (graphs.empty()) continue;
    const std::string slabs = counted(pool.shared_slabs, "slab");
    write_out("  graphs that share%s of %s: %s\n",
              uses == Uses::Former ? "d slabs" : (" " + slabs).c_str(),
              printable(document.pool_name(pool.pool)).c_str(), graphs_text(stats, graphs).c_str());
  }
}

// Old traces, and traces of unmodified programs, only record buffers.
void print_pools(const Stats& stats, const StatsOptions& options) {
  const model::Document& document = *stats.document;
  std::vector<trace::PoolState> pools;
  for (const auto& [id, pool] : *document.pools) pools.push_back(pool);
  Table table(1, {"pool", "buffers", "freed", "buffer bytes", "mapped", "reserved", "peak mapped",
                  "budget", "trims", "remaps"});
  const std::size_t shown =
      pools.size() > kMaxSections ? options.limit(pools.size()) : pools.size();
  for (std::size_t i = 0; i < shown; ++i) {
    const trace::PoolState& p = pools[i];
    const std::string name = printable(document.pool_name(p.pool));
    if (p.peak == 0) {
      table.add({name, with_separators(p.buffers), with_separators(p.freed), bytes(p.device_bytes),
                 "", "", "", "", "", ""});
      continue;
    }
    table.add({name, with_separators(p.buffers), with_separators(p.freed), bytes(p.device_bytes),
               bytes(p.mapped), bytes(p.reserved), bytes(p.peak),
               p.budget == 0 ? "none" : bytes(p.budget), with_separators(p.trims),
               with_separators(p.remaps)});
  }
  for (const auto& [id, d] : *document.device_totals) {
    const auto found = document.devices->find(id);
    const std::string device = found == document.devices->end() ? "device " + std::to_string(id)
                                                                : printable(found->second.selector);
    const std::string rank =
        document.has_ranks() ? ", " + document.rank_name(document.session_of_device(id)) : "";
    table.add({"total of " + device + rank, "", "", bytes(d.buffers), bytes(d.mapped),
               bytes(d.reserved), bytes(d.peak), d.budget == 0 ? "none" : bytes(d.budget),
               with_separators(d.trims), with_separators(d.remaps)});
  }
  if (!table.empty())
    write_out("\nDevice memory of pools at the end of the trace\n%s", table.text().c_str());
  print_omitted(pools.size(), shown, "pool");
  for (const trace::PoolState& p : pools) print_sharing(stats, p);
}

void print_sessions(const model::Document& d) {
  if (d.sessions->size() > kMaxRanks) {
    std::set<std::string> hosts;
    for (const trace::Session& session : *d.sessions) hosts.insert(session.host);
    write_out("  %s on %s, %s\n", counted(d.sessions->size(), "session").c_str(),
              counted(hosts.size(), "host").c_str(), counted(d.devices->size(), "device").c_str());
    return;
  }
  for (const trace::Session& session : *d.sessions) {
    write_out("  session: %s on %s, process %u%s, engine %s\n",
              printable(session.application).c_str(), printable(session.host).c_str(), session.pid,
              rank_text(session).c_str(), printable(session.engine_version).c_str());
  }
  for (const auto& [id, device] : *d.devices) {
    write_out("  device: %s [%s]\n", printable(device.name).c_str(),
              printable(device.selector).c_str());
  }
}

}  // namespace

void print(const Stats& stats, const StatsOptions& options) {
  const model::Document& d = *stats.document;
  const Totals totals = totals_of(d);
  write_out("%s: %s, %s, %s\n", printable(stats.file).c_str(), bytes(stats.bytes).c_str(),
            counted(stats.chunks, "chunk").c_str(),
            d.first == 0 && d.last == 0
                ? "no times"
                : duration(static_cast<double>(d.last) - static_cast<double>(d.first)).c_str());
  if (!stats.damage.empty())
    write_out("  the file is damaged or incomplete: %s\n", printable(stats.damage).c_str());
  if (stats.contents_bytes != 0)
    write_out(
        "  contains data of the program, %s: reprise inspect shows it, reprise strip removes it\n",
        bytes(stats.contents_bytes).c_str());
  print_sessions(d);
  for (const auto& [kind, count] : totals.losses)
    write_out("  lost: %s %s\n", with_separators(count).c_str(), trace::loss_name(kind));
  for (const auto& [severity, count] : totals.messages) {
    write_out("  messages: %s of severity %s\n", with_separators(count).c_str(),
              trace::severity_name(severity));
  }
  if (!d.observing_cost.empty()) write_out("  %s\n", printable(d.observing_cost).c_str());
  if (totals.profile_host != 0) {
    write_out("  CPU time of the profiler: %s\n",
              duration(static_cast<double>(totals.profile_host)).c_str());
  }
  if (d.unknown_replays != 0 || totals.unknown_samples != 0) {
    write_out("  ignored: %s and %s of graphs that the trace does not describe\n",
              counted(d.unknown_replays, "replay").c_str(),
              counted(totals.unknown_samples, "sample").c_str());
  }
  if (d.graphs.empty()) write_out("  no graphs\n");
  print_ranks(stats, options);
  print_graphs(stats, options);
  print_kinds(stats, options);
  for (const model::GraphEntry* entry : stats.sections) print_graph(stats, options, *entry);
  print_pools(stats, options);
  write_out("\nPercentiles of nodes are within %.1f %% of the exact ones.\n",
            100 * detail::DurationHistogram::kRelativeError);
}

}  // namespace reprise::cli
