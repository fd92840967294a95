#include <memory>
#include <stdexcept>
#include <string>

#include "cli/commands.hpp"
#include "cli/json_text.hpp"
#include "cli/number.hpp"
#include "cli/progress_line.hpp"
#include "cli/stats.hpp"
#include "cli/text.hpp"
#include "export/topology.hpp"
#include "model/trace_loader.hpp"

namespace reprise::cli {

namespace {

// The graph that --graph names. Throws ExportError.
std::optional<std::uint32_t> selected_graph(const model::Document& document,
                                            const StatsOptions& options) {
  if (options.graph.empty()) return std::nullopt;
  trace::GraphLabels graphs;
  for (const auto& [key, entry] : document.graphs)
    graphs.emplace(key.graph, entry.graph->record().label);
  return trace::find_graph(graphs, options.graph);
}

// The graph that --replay refers to. Throws UsageError.
const model::GraphEntry& entry_with_replay(const Stats& stats, const StatsOptions& options) {
  const model::GraphEntry* found = nullptr;
  for (const model::GraphEntry* entry : stats.sections) {
    if (stats.document->find_replay(entry->graph->key(), *options.replay) == nullptr) continue;
    if (found != nullptr)
      throw UsageError("several graphs have a replay " + std::to_string(*options.replay) +
                       ": add --graph");
    found = entry;
  }
  if (found == nullptr)
    throw std::runtime_error("the trace has no replay " + std::to_string(*options.replay) +
                             (options.graph.empty() ? "" : " of graph " + options.graph));
  return *found;
}

int explain_replay(const Stats& stats, const StatsOptions& options) {
  const model::GraphEntry& entry = entry_with_replay(stats, options);
  const model::Graph& graph = *entry.graph;
  const trace::Replay& replay = *stats.document->find_replay(graph.key(), *options.replay);
  const model::Slowdown slowdown = model::slowdown(
      entry, model::replay_baseline(*stats.document, entry, {}, entry.statistics->medians()),
      replay, times_of(*stats.document, graph, replay));
  if (options.json) {
    nlohmann::ordered_json json = {{"file", options.file},
                                   {"graph", graph.key().graph},
                                   {"version", graph.key().version},
                                   {"name", graph.name()}};
    json.update(json_of(graph, slowdown));
    write_out("%s", json_text(json).c_str());
  } else {
    print_slowdown(options, entry, slowdown);
  }
  return kDone;
}

int run(const StatsOptions& options) {
  Stats stats;
  model::TraceLoader loader({.path = options.file});
  const std::optional<std::uint32_t> graph = selected_graph(*loader.document(), options);
  {
    ProgressLine line("reading " + options.file);
    while (loader.step()) line.update(static_cast<std::uint64_t>(loader.progress() * 1000), 1000);
  }
  stats.file = loader.reader().path().string();
  stats.trailing_bytes = loader.reader().trailing_bytes();
  stats.bytes = trace::kPreambleBytes + stats.trailing_bytes;
  for (const trace::ChunkEntry& chunk : loader.reader().chunks()) {
    stats.bytes += trace::ChunkHeader::kBytes + chunk.header.compressed_bytes;
    if (chunk.header.kind == trace::ChunkKind::Contents)
      stats.contents_bytes += chunk.header.raw_bytes;
  }
  stats.chunks = loader.reader().chunks().size();
  stats.damage = loader.damage();
  stats.document = loader.document();
  stats.table = model::graph_table(*stats.document);
  for (const auto& [key, entry] : stats.document->graphs) {
    if (graph ? key.graph == *graph : options.replay || stats.table.rows.size() <= kMaxSections)
      stats.sections.push_back(&entry);
  }
  if (options.replay) return explain_replay(stats, options);
  stats.ranks = model::rank_analysis(*stats.document);
  if (options.json) {
    write_out("%s", json_text(json_of(stats, options)).c_str());
  } else {
    print(stats, options);
  }
  return kDone;
}

}  // namespace

Command add_stats(CLI::App& program) {
  CLI::App* app = program.add_subcommand(
      "stats",
      "Print statistics of a trace: graphs and their families, slowest replays, nodes, pools");
  auto options = std::make_shared<StatsOptions>();
  app->add_option("FILE", options->file, "trace file")->required();
  app->add_option("--graph", options->graph, "only this graph, given by number or label");
  app->add_option("--replay", options->replay,
                  "explain one replay: its launch, gaps and nodes, each against its median")
      ->check(number<std::uint64_t>());
  app->add_option("--top", options->top, "rows of each list; 0: all")
      ->check(number<std::uint32_t>())
      ->capture_default_str();
  app->add_flag("--json", options->json, "print JSON");
  app->footer(
      "launch call: duration of the call on its thread; launch-to-start latency: from the start of "
      "the call to the start on\n"
      "the device, including the time in the queue; gap: since the previous replay of the same "
      "graph. Slow replays are\n"
      "explained from the launch call, or from the end of the previous replay on the queue if that "
      "is later. Graphs with\n"
      "the same topology form a family. Traces with more than 16 graphs get a table of families; "
      "--graph prints one graph.\n"
      "memory: device memory that a graph of `reprise run` took from before its capture to after "
      "its first launch.\n"
      "Ranks of a distributed job: exposed is communication during which no other command of the "
      "graph runs on the rank;\n"
      "waited: the part of it spent waiting for ranks that arrived later; last: fraction of the "
      "collectives that the rank\n"
      "reached last; certainly: beyond the error of the clocks; transfer: from the last arrival to "
      "the end.\n"
      "Percentiles are values of the nearest rank. All figures are those of the viewer.\n"
      "Examples:\n  reprise stats run.reprise\n  reprise stats run.reprise --graph step --replay "
      "120\n  reprise stats run.reprise --json | jq '.graph_table.families[] | {name, "
      "share}'");
  return {app, [options] { return run(*options); }};
}

}  // namespace reprise::cli
