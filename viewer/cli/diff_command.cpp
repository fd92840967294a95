#include <cstdio>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "cli/commands.hpp"
#include "cli/json_text.hpp"
#include "cli/progress_line.hpp"
#include "cli/text.hpp"
#include "model/graph_comparison.hpp"
#include "model/significance.hpp"
#include "model/trace_loader.hpp"

namespace reprise::cli {

namespace {

using model::ComparedNode;
using model::ComparedTimes;
using model::GraphComparison;

struct DiffOptions {
  std::string a, b;
  bool json = false;
};

struct Trace {
  std::shared_ptr<const model::Document> document;
  std::string damage;  // empty if the file is intact
};

struct Differences {
  Trace a, b;
  std::vector<GraphComparison> graphs;
  std::vector<std::string> only_a, only_b;  // names of graphs
};

// `extra`: cells after the change of the median.
std::vector<std::string> row(std::vector<std::string> cells, const ComparedTimes& t,
                             const std::vector<std::string>& extra = {}) {
  char p[32];
  std::snprintf(p, sizeof p, t.p < 0.001 ? "<0.001" : "%.3f", t.p);
  for (std::string cell :
       {with_separators(t.count_a), with_separators(t.count_b), microseconds(t.median_a),
        microseconds(t.median_b), signed_microseconds(t.median_b - t.median_a),
        t.median_a > 0 ? signed_percent(t.change) : std::string()}) {
    cells.push_back(std::move(cell));
  }
  cells.insert(cells.end(), extra.begin(), extra.end());
  cells.insert(cells.end(), {p, verdict_name(t.verdict)});
  return cells;
}

// "label path / name" of a node.
std::string full_name(const model::Graph& graph, std::uint32_t node) {
  const std::string path = graph.label_path(graph.record().nodes[node].label);
  return path.empty() ? graph.node_name(node) : path + " / " + graph.node_name(node);
}

void print_list(const char* what, const std::vector<std::string>& names) {
  for (const std::string& name : names) write_out("  %s: %s\n", what, printable(name).c_str());
}

// The names of the nodes of one side alone.
std::vector<std::string> names_of(const GraphComparison& c, model::Verdict side) {
  std::vector<std::string> names;
  for (const ComparedNode& n : c.nodes) {
    if (n.times.verdict != side) continue;
    names.push_back(side == model::Verdict::Removed ? full_name(*c.graph_a, n.a)
                                                    : full_name(*c.graph_b, n.b));
  }
  return names;
}

bool has_same_plan(const GraphComparison& g) {
  return g.graph_a->record().plan_hash == g.graph_b->record().plan_hash;
}

bool is_matched(const ComparedNode& n) { return n.a != trace::kNone && n.b != trace::kNone; }

void print(const DiffOptions& options, const Differences& d) {
  for (const auto& [side, file, trace] :
       {std::tuple('A', &options.a, &d.a), {'B', &options.b, &d.b}}) {
    write_out("%c: %s\n", side, printable(*file).c_str());
    if (!trace->damage.empty())
      write_out("  the file is damaged or incomplete: %s\n", printable(trace->damage).c_str());
  }
  print_list("graph only in A", d.only_a);
  print_list("graph only in B", d.only_b);
  for (const GraphComparison& g : d.graphs) {
    write_out("\n%s: %s\n", printable(g.graph_a->name()).c_str(),
              has_same_plan(g) ? "same plan" : "the plan changed");
    Table replays(1, {"", "count A", "count B", "median A us", "median B us", "change us", "change",
                      "p", "verdict"});
    for (const auto& [name, times] :
         {std::pair("device time", &g.device_time), std::pair("launch call", &g.launch_call),
          std::pair("launch-to-start latency", &g.launch_latency)}) {
      if (times->count_a != 0 || times->count_b != 0) replays.add(row({name}, *times));
    }
    if (!replays.empty()) write_out("%s", replays.text().c_str());
    const model::Contributions &a = g.contributions_a, &b = g.contributions_b;
    const bool has_effects = a.replays != 0 && b.replays != 0;
    if (has_effects) {
      write_out("  mean of %s and %s: %s us; nodes and gaps %s us, outside nodes %s us\n",
                with_separators(a.replays).c_str(), counted(b.replays, "sampled replay").c_str(),
                signed_microseconds(b.time - a.time).c_str(),
                signed_microseconds(b.time - a.time - g.effect_outside()).c_str(),
                signed_microseconds(g.effect_outside()).c_str());
    }
    Table nodes(2, {"node", "label", "count A", "count B", "median A us", "median B us",
                    "change us", "change", "effect us", "path A", "path B", "p", "verdict"});
    for (const ComparedNode& n : g.nodes) {
      if (!is_matched(n) || (n.times.count_a == 0 && n.times.count_b == 0)) continue;
      nodes.add(row(
          {g.graph_a->node_name(n.a), g.graph_a->label_path(g.graph_a->record().nodes[n.a].label)},
          n.times,
          {has_effects ? signed_microseconds(n.effect) : "",
           has_effects && !is_in_body(g, n) ? percent(a.on_path[n.a]) : "",
           has_effects && !is_in_body(g, n) ? percent(b.on_path[n.b]) : ""}));
    }
    if (!nodes.empty()) write_out("\n%s", nodes.text().c_str());
    print_list("node only in A", names_of(g, model::Verdict::Removed));
    print_list("node only in B", names_of(g, model::Verdict::Added));
  }
  write_out(
      "\np: two-sided Mann-Whitney U test. The verdict is slower or faster if p, multiplied by the "
      "number of nodes compared, is below %.2f.\n"
      "effect: what the node adds to the mean replay, the change of its mean time on the critical "
      "path with the gap before it.\n"
      "path: share of the replays in which the node is on the critical path.\n",
      model::kSignificanceLevel);
}

nlohmann::ordered_json diff_json(const ComparedTimes& t) {
  return {{"count_a", t.count_a},
          {"count_b", t.count_b},
          {"median_a_ns", t.median_a},
          {"median_b_ns", t.median_b},
          {"change", t.change},
          {"p", t.p},
          {"b_is_longer", t.b_is_longer},
          {"significant", t.is_significant()},
          {"verdict", verdict_name(t.verdict)}};
}

nlohmann::ordered_json diff_json(const DiffOptions& options, const Differences& d) {
  nlohmann::ordered_json graphs = nlohmann::ordered_json::array();
  for (const GraphComparison& g : d.graphs) {
    nlohmann::ordered_json nodes = nlohmann::ordered_json::array();
    for (const ComparedNode& n : g.nodes) {
      if (!is_matched(n) || (n.times.count_a == 0 && n.times.count_b == 0)) continue;
      nodes.push_back({{"name", g.graph_a->node_name(n.a)},
                       {"label", g.graph_a->label_path(g.graph_a->record().nodes[n.a].label)},
                       {"node_a", n.a},
                       {"node_b", n.b},
                       {"time", diff_json(n.times)},
                       {"effect_ns", n.effect},
                       {"on_path_a", g.contributions_a.on_path[n.a]},
                       {"on_path_b", g.contributions_b.on_path[n.b]}});
    }
    graphs.push_back({{"name", g.graph_a->name()},
                      {"graph_a", g.graph_a->key().graph},
                      {"version_a", g.graph_a->key().version},
                      {"graph_b", g.graph_b->key().graph},
                      {"version_b", g.graph_b->key().version},
                      {"same_plan", has_same_plan(g)},
                      {"device_time", diff_json(g.device_time)},
                      {"launch_call", diff_json(g.launch_call)},
                      {"launch_latency", diff_json(g.launch_latency)},
                      {"mean_a_ns", g.contributions_a.time},
                      {"mean_b_ns", g.contributions_b.time},
                      {"effect_outside_ns", g.effect_outside()},
                      {"nodes", std::move(nodes)},
                      {"only_a", names_of(g, model::Verdict::Removed)},
                      {"only_b", names_of(g, model::Verdict::Added)}});
  }
  return {{"a", options.a},
          {"b", options.b},
          {"damage_a", d.a.damage},
          {"damage_b", d.b.damage},
          {"significance", model::kSignificanceLevel},
          {"graphs", std::move(graphs)},
          {"only_a", d.only_a},
          {"only_b", d.only_b}};
}

Trace read(const std::string& file) {
  model::TraceLoader loader({.path = file});
  ProgressLine line("reading " + file);
  while (loader.step()) line.update(static_cast<std::uint64_t>(loader.progress() * 1000), 1000);
  return {loader.document(), loader.damage()};
}

// "step", or "step, rank 3".
std::string graph_name(const model::Document& document, model::GraphKey key) {
  const std::string name = document.find(key)->graph->name();
  return document.has_ranks() ? name + ", " + document.rank_name(document.session_of(key)) : name;
}

int run(const DiffOptions& options) {
  Differences d{read(options.a), read(options.b), {}, {}, {}};
  const model::Document &a = *d.a.document, &b = *d.b.document;
  const model::MatchedGraphs matched = model::match_graphs(a, b);
  for (const auto& [in_a, in_b] : matched.pairs)
    d.graphs.push_back(model::compare({a, in_a}, {b, in_b}));
  for (const model::GraphKey key : matched.only_a) d.only_a.push_back(graph_name(a, key));
  for (const model::GraphKey key : matched.only_b) d.only_b.push_back(graph_name(b, key));
  if (options.json) {
    write_out("%s", json_text(diff_json(options, d)).c_str());
  } else {
    print(options, d);
  }
  return kDone;
}

}  // namespace

Command add_diff(CLI::App& program) {
  CLI::App* app = program.add_subcommand(
      "diff", "Compare two traces: medians of replays and nodes, with statistical significance");
  auto options = std::make_shared<DiffOptions>();
  app->add_option("A", options->a, "baseline trace")->required();
  app->add_option("B", options->b, "trace to compare with the baseline")->required();
  app->add_flag("--json", options->json, "print JSON");
  app->footer(
      "Graphs match by rank and name, in order; nodes match by name, label and kind, in command "
      "order. p is the "
      "p-value of the Mann-Whitney U test: the\n"
      "probability of a difference at least this large if nothing changed and samples are "
      "independent.\n"
      "Examples:\n  reprise diff before.reprise after.reprise\n"
      "  reprise diff before.reprise after.reprise --json | jq '.graphs[].nodes[] | "
      "select(.time.verdict == \"slower\").name'");
  return {app, [options] { return run(*options); }};
}

}  // namespace reprise::cli
