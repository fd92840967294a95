#include <algorithm>
#include <cstdio>

#include "cli/commands.hpp"
#include "cli/json_text.hpp"
#include "cli/progress_line.hpp"
#include "cli/text.hpp"
#include "model/trace_summary.hpp"

namespace reprise::cli {

namespace {

using model::GraphSummary;
using model::NodeSummary;
using model::TraceSummary;

struct StatsOptions {
  std::string file;
  bool json = false;
};

std::string rank_text(const trace::Session& session) {
  return session.rank == trace::kNone ? "" : ", rank " + std::to_string(session.rank);
}

std::vector<std::string> time_row(std::string what, const detail::DurationHistogram& times) {
  return {std::move(what),
          with_separators(times.count()),
          microseconds(times.mean()),
          microseconds(times.quantile(0.50)),
          microseconds(times.quantile(0.90)),
          microseconds(times.quantile(0.99)),
          microseconds(static_cast<double>(times.max()))};
}

void print_graph(const GraphSummary& g) {
  std::printf("\n%s (graph %u, version %u)%s%s: %s, %s, %s\n", printable(g.name).c_str(), g.graph,
              g.version, g.device.empty() ? "" : " on ", printable(g.device).c_str(),
              counted(g.nodes.size(), "node").c_str(), counted(g.edges, "edge").c_str(),
              g.lanes == 0 ? "no lanes" : counted(g.lanes, "lane").c_str());
  std::printf("  %s, %s sampled", counted(g.replays, "replay").c_str(),
              with_separators(g.sampled_replays).c_str());
  if (g.untimed_replays != 0)
    std::printf(", %s without a device time", with_separators(g.untimed_replays).c_str());
  std::printf("; %s", counted(g.samples, "node sample").c_str());
  if (g.lost_samples != 0)
    std::printf(", %s without a time", with_separators(g.lost_samples).c_str());
  std::printf("\n");

  Table times(1, {"", "count", "mean us", "p50 us", "p90 us", "p99 us", "max us"});
  if (g.launch.count() != 0) times.add(time_row("launch latency", g.launch));
  if (g.device_time.count() != 0) times.add(time_row("device time", g.device_time));
  if (!times.empty()) std::fputs(times.text().c_str(), stdout);

  std::vector<const NodeSummary*> nodes;
  for (const NodeSummary& n : g.nodes) {
    if (n.times.count() != 0 || n.lost != 0) nodes.push_back(&n);
  }
  std::stable_sort(nodes.begin(), nodes.end(), [](const NodeSummary* a, const NodeSummary* b) {
    return a->times.sum() > b->times.sum();
  });
  for (const model::LoopSummary& l : g.loops) {
    if (l.replays == 0) continue;
    std::printf("  %s (node %u): %s to %s iterations in %s, %.2f on average",
                printable(g.nodes[l.node].name).c_str(), l.node, with_separators(l.min).c_str(),
                with_separators(l.max).c_str(), counted(l.replays, "replay").c_str(),
                static_cast<double>(l.iterations) / static_cast<double>(l.replays));
    if (l.timed != l.iterations)
      std::printf("; %s not measured", with_separators(l.iterations - l.timed).c_str());
    std::printf("\n");
  }
  Table table(3, {"node", "name", "label", "count", "median us", "p99 us", "share"});
  for (const NodeSummary* n : nodes) {
    table.add({std::to_string(n->node), printable(n->name), printable(n->label_path),
               with_separators(n->times.count()), microseconds(n->times.quantile(0.50)),
               microseconds(n->times.quantile(0.99)), percent(n->share)});
  }
  if (!table.empty()) std::printf("\n%s", table.text().c_str());
}

// The graphs whose transient buffers share slabs of a pool: "3: forward, backward, step".
std::string sharers_of(const trace::PoolState& pool, const TraceSummary& s) {
  std::string names;
  for (const std::uint32_t graph : pool.sharers) {
    const auto found = std::find_if(s.graphs.begin(), s.graphs.end(),
                                    [&](const GraphSummary& g) { return g.graph == graph; });
    names += (names.empty() ? ": " : ", ") +
             (found == s.graphs.end() ? "graph " + std::to_string(graph) : printable(found->name));
  }
  return with_separators(pool.sharers.size()) + names;
}

std::string name_of(const trace::PoolState& pool) {
  return pool.label.empty() ? "pool " + std::to_string(pool.pool) : printable(pool.label);
}

// Old traces, and traces of unmodified programs, only record buffers.
void print_pools(const TraceSummary& s) {
  Table table(1, {"pool", "buffers", "buffer bytes", "mapped", "reserved", "peak", "budget",
                  "trims", "remaps"});
  for (const trace::PoolState& p : s.pools) {
    const std::string name = name_of(p);
    if (p.peak == 0) {
      table.add({name, with_separators(p.buffers), bytes(p.device_bytes), "", "", "", "", "", ""});
      continue;
    }
    table.add({name, with_separators(p.buffers), bytes(p.device_bytes), bytes(p.mapped),
               bytes(p.reserved), bytes(p.peak), p.budget == 0 ? "none" : bytes(p.budget),
               with_separators(p.trims), with_separators(p.remaps)});
  }
  for (const trace::DeviceTotals& d : s.device_totals) {
    const auto found =
        std::find_if(s.devices.begin(), s.devices.end(),
                     [&](const trace::Device& known) { return known.id == d.device; });
    table.add({"total of " + (found == s.devices.end() ? "device " + std::to_string(d.device)
                                                       : printable(found->selector)),
               "", bytes(d.buffers), bytes(d.mapped), bytes(d.reserved), bytes(d.peak),
               d.budget == 0 ? "none" : bytes(d.budget), with_separators(d.trims),
               with_separators(d.remaps)});
  }
  if (!table.empty())
    std::printf("\nDevice memory of pools at the end of the trace\n%s", table.text().c_str());
  for (const trace::PoolState& most : s.shared_pools) {
    const auto now = std::find_if(s.pools.begin(), s.pools.end(), [&](const trace::PoolState& p) {
      return p.pool == most.pool && !p.sharers.empty();
    });
    const trace::PoolState& p = now == s.pools.end() ? most : *now;
    std::printf("  graphs that share%s %s of %s: %s\n", now == s.pools.end() ? "d" : "",
                counted(p.shared_slabs, "slab").c_str(), name_of(p).c_str(),
                sharers_of(p, s).c_str());
  }
}

void print(const TraceSummary& s) {
  std::printf("%s: %s, %s, %s\n", printable(s.path).c_str(), bytes(s.file_bytes).c_str(),
              counted(s.chunks, "chunk").c_str(),
              s.first == 0 && s.last == 0
                  ? "no times"
                  : duration(static_cast<double>(s.last) - static_cast<double>(s.first)).c_str());
  if (!s.damage.empty())
    std::printf("  the file is damaged or incomplete: %s (%s not read)\n",
                printable(s.damage).c_str(), bytes(s.trailing_bytes).c_str());
  for (const trace::Session& session : s.sessions) {
    std::printf("  session: %s on %s, process %u%s, engine %s\n",
                printable(session.application).c_str(), printable(session.host).c_str(),
                session.pid, rank_text(session).c_str(), printable(session.engine_version).c_str());
  }
  for (const trace::Device& d : s.devices)
    std::printf("  device: %s [%s]\n", printable(d.name).c_str(), printable(d.selector).c_str());
  for (const auto& [kind, count] : s.losses)
    std::printf("  lost: %s %s\n", with_separators(count).c_str(), trace::loss_name(kind));
  for (const auto& [severity, count] : s.messages) {
    std::printf("  messages: %s of severity %s\n", with_separators(count).c_str(),
                trace::severity_name(severity));
  }
  if (s.profile_host != 0 || s.profile_device != 0) {
    std::printf("  profiling overhead: %s on the host, %s on the device\n",
                duration(static_cast<double>(s.profile_host)).c_str(),
                duration(static_cast<double>(s.profile_device)).c_str());
  }
  if (s.unknown_replays != 0 || s.unknown_samples != 0) {
    std::printf("  ignored: %s and %s of graphs that the trace does not describe\n",
                counted(s.unknown_replays, "replay").c_str(),
                counted(s.unknown_samples, "sample").c_str());
  }
  if (s.graphs.empty()) std::printf("  no graphs\n");
  for (const GraphSummary& g : s.graphs) print_graph(g);
  print_pools(s);
  std::printf(
      "\nPercentiles are within %.1f %% of the exact ones; counts, means and maxima are exact.\n",
      100 * detail::DurationHistogram::kRelativeError);
}

nlohmann::ordered_json json_of(const GraphSummary& g) {
  nlohmann::ordered_json nodes = nlohmann::ordered_json::array();
  for (const NodeSummary& n : g.nodes) {
    nodes.push_back({{"node", n.node},
                     {"name", n.name},
                     {"label", n.label_path},
                     {"kind", trace::kind_name(n.kind)},
                     {"parent", n.parent == trace::kNone ? nlohmann::ordered_json()
                                                         : nlohmann::ordered_json(n.parent)},
                     {"lost", n.lost},
                     {"share", n.share},
                     {"time", json_times(n.times)}});
  }
  nlohmann::ordered_json loops = nlohmann::ordered_json::array();
  for (const model::LoopSummary& l : g.loops) {
    loops.push_back({{"node", l.node},
                     {"replays", l.replays},
                     {"iterations", l.iterations},
                     {"timed_iterations", l.timed},
                     {"min", l.min},
                     {"max", l.max}});
  }
  return {{"graph", g.graph},
          {"version", g.version},
          {"name", g.name},
          {"device", g.device},
          {"plan_hash", hex(g.plan_hash)},
          {"lanes", g.lanes},
          {"edges", g.edges},
          {"replays", g.replays},
          {"sampled_replays", g.sampled_replays},
          {"untimed_replays", g.untimed_replays},
          {"launch_latency", json_times(g.launch)},
          {"device_time", json_times(g.device_time)},
          {"samples", g.samples},
          {"lost_samples", g.lost_samples},
          {"loops", std::move(loops)},
          {"nodes", std::move(nodes)}};
}

nlohmann::ordered_json json_of(const TraceSummary& s) {
  nlohmann::ordered_json json = {
      {"file", s.path},     {"bytes", s.file_bytes},
      {"chunks", s.chunks}, {"trailing_bytes", s.trailing_bytes},
      {"damage", s.damage}, {"first_ns", s.first},
      {"last_ns", s.last},  {"percentile_error", detail::DurationHistogram::kRelativeError}};
  auto& sessions = json["sessions"] = nlohmann::ordered_json::array();
  for (const trace::Session& session : s.sessions) {
    sessions.push_back({{"host", session.host},
                        {"pid", session.pid},
                        {"application", session.application},
                        {"command_line", session.command_line},
                        {"engine_version", session.engine_version}});
    if (session.rank != trace::kNone) sessions.back()["rank"] = session.rank;
  }
  auto& devices = json["devices"] = nlohmann::ordered_json::array();
  for (const trace::Device& d : s.devices)
    devices.push_back({{"device", d.id},
                       {"name", d.name},
                       {"selector", d.selector},
                       {"memory_bytes", d.memory_bytes}});
  auto& losses = json["losses"] = nlohmann::ordered_json::object();
  for (const auto& [kind, count] : s.losses) losses[trace::loss_name(kind)] = count;
  auto& messages = json["messages"] = nlohmann::ordered_json::object();
  for (const auto& [severity, count] : s.messages) messages[trace::severity_name(severity)] = count;
  auto& pools = json["pools"] = nlohmann::ordered_json::array();
  for (const trace::PoolState& p : s.pools) {
    pools.push_back({{"pool", p.pool},
                     {"label", p.label},
                     {"buffers", p.buffers},
                     {"device_bytes", p.device_bytes},
                     {"host_bytes", p.host_bytes},
                     {"budget", p.budget},
                     {"reserved", p.reserved},
                     {"mapped", p.mapped},
                     {"peak", p.peak},
                     {"slabs", p.slabs},
                     {"trims", p.trims},
                     {"remaps", p.remaps},
                     {"shared_slabs", p.shared_slabs},
                     {"sharers", p.sharers}});
  }
  auto& totals = json["device_memory"] = nlohmann::ordered_json::array();
  for (const trace::DeviceTotals& d : s.device_totals) {
    totals.push_back({{"device", d.device},
                      {"budget", d.budget},
                      {"reserved", d.reserved},
                      {"mapped", d.mapped},
                      {"peak", d.peak},
                      {"buffer_bytes", d.buffers},
                      {"slabs", d.slabs},
                      {"shared_slabs", d.shared_slabs},
                      {"trims", d.trims},
                      {"remaps", d.remaps}});
  }
  json["profile_cost"] = {{"host_ns", s.profile_host}, {"device_ns", s.profile_device}};
  json["unknown_replays"] = s.unknown_replays;
  json["unknown_samples"] = s.unknown_samples;
  auto& graphs = json["graphs"] = nlohmann::ordered_json::array();
  for (const GraphSummary& g : s.graphs) graphs.push_back(json_of(g));
  return json;
}

int run(const StatsOptions& options) {
  const trace::TraceReader reader(options.file);
  const TraceSummary summary = [&] {
    ProgressLine line("reading " + options.file);
    return model::summarize(
        reader, [&](std::uint64_t done, std::uint64_t total) { line.update(done, total); });
  }();
  if (options.json) {
    std::fputs(json_text(json_of(summary)).c_str(), stdout);
  } else {
    print(summary);
  }
  return kDone;
}

}  // namespace

Command add_stats(CLI::App& program) {
  CLI::App* app = program.add_subcommand(
      "stats", "Print statistics of a trace: replays, launch latency, device time, nodes, losses");
  auto options = std::make_shared<StatsOptions>();
  app->add_option("FILE", options->file, "trace file")->required();
  app->add_flag("--json", options->json, "print JSON");
  app->footer(
      "Examples:\n  reprise stats run.reprise\n  reprise stats run.reprise --json | jq "
      "'.graphs[0].device_time.p50_ns'");
  return {app, [options] { return run(*options); }};
}

}  // namespace reprise::cli
