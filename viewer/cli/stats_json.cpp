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

nlohmann::ordered_json json_of(const Stats& stats, const model::GraphEntry& entry) {
  const model::Graph& graph = *entry.graph;
  const auto times = [&](model::ReplayMeasure what) {
    return json_times(model::replay_statistics(entry.replays, what));
  };
  const model::ReplayStatistics device =
      model::replay_statistics(entry.replays, model::ReplayMeasure::DeviceTime);
  const std::vector<model::NodeFigures> figures = model::node_figures(graph, *entry.statistics);
  nlohmann::ordered_json nodes = nlohmann::ordered_json::array();
  for (std::uint32_t n = 0; n < figures.size(); ++n) {
    const trace::Node& node = graph.record().nodes[n];
    const std::uint32_t parent = graph.parent(n);
    nodes.push_back({{"node", n},
                     {"name", graph.node_name(n)},
                     {"label", graph.label_path(node.label)},
                     {"kind", trace::kind_name(node.kind)},
                     {"kernel_kind", graph.kernel_kind(n) == detail::KernelKind::Other
                                         ? nlohmann::ordered_json()
                                         : detail::kernel_kind_name(graph.kernel_kind(n))},
                     {"parent", parent == trace::kNone ? nlohmann::ordered_json()
                                                       : nlohmann::ordered_json(parent)},
                     {"changes", graph.changes(n)},
                     {"lost", figures[n].lost},
                     {"share", figures[n].share},
                     {"time", json_times(figures[n])}});
  }
  nlohmann::ordered_json loops = nlohmann::ordered_json::array();
  for (const LoopSummary& l : loops_of(entry)) {
    loops.push_back({{"node", l.node},
                     {"replays", l.replays},
                     {"iterations", l.iterations},
                     {"timed_iterations", l.timed},
                     {"min", l.min},
                     {"max", l.max}});
  }
  nlohmann::ordered_json launched_by = nlohmann::ordered_json::array();
  for (const model::Graph::LaunchLine& line : graph.launch_lines())
    launched_by.push_back({{"line", line.text}, {"replays", line.launches}});
  const std::uint64_t lost = entry.statistics->lost();
  nlohmann::ordered_json json = {{"graph", graph.key().graph},
                                 {"version", graph.key().version},
                                 {"name", graph.name()},
                                 {"device", device_of(stats, entry)},
                                 {"plan_hash", hex(graph.record().plan_hash)},
                                 {"lanes", graph.record().lanes},
                                 {"edges", graph.record().edges.size()},
                                 {"replays", entry.replays.size()},
                                 {"sampled_replays", model::count_sampled(entry.replays)},
                                 {"untimed_replays", device.unknown},
                                 {"device_time", json_times(device)},
                                 {"launch_call", times(model::ReplayMeasure::LaunchCall)},
                                 {"launch_latency", times(model::ReplayMeasure::LaunchLatency)},
                                 {"samples", entry.statistics->samples + lost},
                                 {"lost_samples", lost},
                                 {"launched_by", std::move(launched_by)},
                                 {"loops", std::move(loops)},
                                 {"nodes", std::move(nodes)}};
  if (stats.document->has_ranks())
    json["rank"] = (*stats.document->sessions)[stats.document->session_of(graph.key())].rank;
  return json;
}

}  // namespace

nlohmann::ordered_json json_of(const Stats& stats, const StatsOptions& options) {
  const model::Document& d = *stats.document;
  const Totals totals = totals_of(d);
  nlohmann::ordered_json json = {{"file", stats.file},
                                 {"bytes", stats.bytes},
                                 {"chunks", stats.chunks},
                                 {"trailing_bytes", stats.trailing_bytes},
                                 {"damage", stats.damage},
                                 {"contents_bytes", stats.contents_bytes},
                                 {"first_ns", d.first},
                                 {"last_ns", d.last},
                                 {"percentile_error", detail::DurationHistogram::kRelativeError}};
  auto& sessions = json["sessions"] = nlohmann::ordered_json::array();
  for (const trace::Session& session : *d.sessions) {
    sessions.push_back({{"host", session.host},
                        {"pid", session.pid},
                        {"application", session.application},
                        {"command_line", session.command_line},
                        {"engine_version", session.engine_version}});
    if (session.rank != trace::kNone) sessions.back()["rank"] = session.rank;
  }
  auto& devices = json["devices"] = nlohmann::ordered_json::array();
  for (const auto& [id, device] : *d.devices)
    devices.push_back({{"device", id},
                       {"name", device.name},
                       {"selector", device.selector},
                       {"memory_bytes", device.memory_bytes}});
  auto& losses = json["losses"] = nlohmann::ordered_json::object();
  for (const auto& [kind, count] : totals.losses) losses[trace::loss_name(kind)] = count;
  auto& messages = json["messages"] = nlohmann::ordered_json::object();
  for (const auto& [severity, count] : totals.messages)
    messages[trace::severity_name(severity)] = count;
  auto& pools = json["pools"] = nlohmann::ordered_json::array();
  for (const auto& [id, p] : *d.pools) {
    pools.push_back(
        {{"pool", id},
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
         {"sharers", d.users_of(id, trace::PoolRole::Sharer, model::Document::Uses::Current)}});
  }
  auto& device_memory = json["device_memory"] = nlohmann::ordered_json::array();
  for (const auto& [id, t] : *d.device_totals) {
    device_memory.push_back({{"device", id},
                             {"budget", t.budget},
                             {"reserved", t.reserved},
                             {"mapped", t.mapped},
                             {"peak", t.peak},
                             {"buffer_bytes", t.buffers},
                             {"slabs", t.slabs},
                             {"shared_slabs", t.shared_slabs},
                             {"trims", t.trims},
                             {"remaps", t.remaps}});
  }
  json["profile_cost"] = {{"host_ns", totals.profile_host}, {"measured", d.observing_cost}};
  json["unknown_replays"] = d.unknown_replays;
  json["unknown_samples"] = totals.unknown_samples;
  if (has_rank_stats(d)) json["communication"] = json_of_ranks(stats);
  auto& kinds = json["kinds"] = nlohmann::ordered_json::array();
  for (const model::NodeGroup& kind : kinds_of(stats, options)) {
    kinds.push_back({{"kind", kind.name},
                     {"nodes", kind.nodes},
                     {"samples", kind.samples},
                     {"total_ns", kind.total},
                     {"share", kind.share}});
  }
  json["graph_table"] = json_of(stats.table);
  auto& graphs = json["graphs"] = nlohmann::ordered_json::array();
  for (const auto& [key, entry] : d.graphs) {
    const bool has_section =
        std::find(stats.sections.begin(), stats.sections.end(), &entry) != stats.sections.end();
    if (!has_section && !options.graph.empty()) continue;
    graphs.push_back(json_of(stats, entry));
    if (!has_section) continue;
    auto& slowest = graphs.back()["slowest_replays"] = nlohmann::ordered_json::array();
    for (const model::Slowdown& slow :
         slowest_of(stats, entry, options.limit(entry.replays.size())))
      slowest.push_back(json_of(*entry.graph, slow));
  }
  return json;
}

}  // namespace reprise::cli
