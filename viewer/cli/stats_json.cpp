#include <algorithm>
#include <set>
#include <utility>

#include "cli/json_text.hpp"
#include "cli/rank_stats.hpp"
#include "cli/stats.hpp"
#include "cli/text.hpp"
#include "trace/record_names.hpp"

namespace reprise::cli {

nlohmann::ordered_json json_of(const model::Graph& graph, const model::Slowdown& s) {
  nlohmann::ordered_json parts = nlohmann::ordered_json::array();
  for (const model::SlowdownPart& part : s.parts) {
    parts.push_back({{"part", model::part_name(graph, part)},
                     {"time_ns", part.time},
                     {"median_ns", part.median},
                     {"difference_ns", part.excess()}});
    if (part.node != trace::kNone) parts.back()["node"] = part.node;
  }
  return {{"replay", s.replay},          {"time_ns", s.time},
          {"median_ns", s.median},       {"difference_ns", s.difference()},
          {"remainder_ns", s.remainder}, {"parts", std::move(parts)}};
}

namespace {

using model::GraphSummary;
using model::NodeSummary;
using model::TraceSummary;

nlohmann::ordered_json json_of(const model::GraphTotals& t) {
  const auto spent = [](trace::Time time) {
    return time == 0 ? nlohmann::ordered_json() : nlohmann::ordered_json(time);
  };
  const auto bytes = [](std::optional<std::int64_t> value) {
    return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json();
  };
  return {{"graphs", t.graphs},
          {"never_replayed", t.never_replayed},
          {"replays", t.replays},
          {"nodes", t.nodes},
          {"device_time_ns", t.device_time},
          {"share", t.share},
          {"slab_bytes", t.slab_bytes},
          {"memory_bytes", bytes(t.memory_bytes())},
          {"capture_memory_bytes", bytes(t.capture_bytes)},
          {"launch_memory_bytes", bytes(t.launch_bytes)},
          {"record_ns", spent(t.record)},
          {"compile_ns", spent(t.compile)},
          {"instantiate_ns", spent(t.instantiate)},
          {"upload_ns", spent(t.upload)}};
}

// One row per graph, all versions together; times and bytes that are not known are null. "process"
// is an index in "sessions".
nlohmann::ordered_json json_of(const model::GraphTable& table) {
  const auto known = [](trace::Time time) {
    return time < 0 ? nlohmann::ordered_json() : nlohmann::ordered_json(time);
  };
  nlohmann::ordered_json rows = nlohmann::ordered_json::array(),
                         families = nlohmann::ordered_json::array();
  for (const model::GraphRow& row : table.rows) {
    rows.push_back({{"graph", row.key.graph},
                    {"version", row.key.version},
                    {"versions", row.versions},
                    {"process", row.process},
                    {"name", row.name},
                    {"family", row.family},
                    {"edges", row.edges},
                    {"pool", row.pool},
                    {"sampled_replays", row.sampled},
                    {"median_ns", known(row.median)},
                    {"p99_ns", known(row.p99)},
                    {"launch_latency_ns", known(row.latency)},
                    {"gap_ns", known(row.gap)}});
    rows.back().update(json_of(row.totals));
  }
  for (const model::GraphFamily& family : table.families) {
    nlohmann::ordered_json graphs = nlohmann::ordered_json::array();
    for (const std::uint32_t r : family.rows) graphs.push_back(table.rows[r].key.graph);
    families.push_back({{"name", model::family_name(table, family)},
                        {"members", std::move(graphs)},
                        {"min_median_ns", known(family.min_median)},
                        {"max_median_ns", known(family.max_median)},
                        {"differing_kernels", family.other_kernels},
                        {"differing_grids", family.other_grids},
                        {"differing_bytes", family.other_bytes}});
    families.back().update(json_of(family.totals));
  }
  return {{"totals", json_of(table.totals)},
          {"families", std::move(families)},
          {"graphs", std::move(rows)}};
}

nlohmann::ordered_json json_of(const Stats& stats, const GraphSummary& g) {
  const model::GraphEntry& entry = stats.entry(g);
  const auto times = [&](model::ReplayMeasure what) {
    return json_times(model::replay_statistics(entry.replays, what));
  };
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
          {"device_time", times(model::ReplayMeasure::DeviceTime)},
          {"launch_call", times(model::ReplayMeasure::LaunchCall)},
          {"launch_latency", times(model::ReplayMeasure::LaunchLatency)},
          {"samples", g.samples},
          {"lost_samples", g.lost_samples},
          {"loops", std::move(loops)},
          {"nodes", std::move(nodes)}};
}

}  // namespace

nlohmann::ordered_json json_of(const Stats& stats, const StatsOptions& options) {
  const TraceSummary& s = stats.summary;
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
    const auto sharing = s.sharing.find(p.pool);
    pools.push_back({{"pool", p.pool},
                     {"label", p.label},
                     {"buffers", p.buffers},
                     {"device_bytes", p.device_bytes},
                     {"host_bytes", p.host_bytes},
                     {"freed", p.freed},
                     {"freed_bytes", p.freed_bytes},
                     {"budget", p.budget},
                     {"reserved", p.reserved},
                     {"mapped", p.mapped},
                     {"peak", p.peak},
                     {"slabs", p.slabs},
                     {"trims", p.trims},
                     {"remaps", p.remaps},
                     {"shared_slabs", p.shared_slabs},
                     {"sharers", sharing == s.sharing.end() ? std::set<std::uint32_t>()
                                                            : sharing->second.now}});
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
  if (has_rank_stats(*stats.document)) json["communication"] = json_of_ranks(stats);
  json["graph_table"] = json_of(stats.table);
  auto& graphs = json["graphs"] = nlohmann::ordered_json::array();
  for (std::uint32_t i = 0; i < s.graphs.size(); ++i) {
    const bool has_section =
        std::find(stats.sections.begin(), stats.sections.end(), i) != stats.sections.end();
    if (!has_section && !options.graph.empty()) continue;
    graphs.push_back(json_of(stats, s.graphs[i]));
    if (!has_section) continue;
    const model::GraphEntry& entry = stats.entry(s.graphs[i]);
    auto& slowest = graphs.back()["slowest_replays"] = nlohmann::ordered_json::array();
    for (const model::Slowdown& slow :
         slowest_of(stats, entry, options.limit(entry.replays.size())))
      slowest.push_back(json_of(*entry.graph, slow));
  }
  return json;
}

}  // namespace reprise::cli
