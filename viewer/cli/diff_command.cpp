#include <cmath>
#include <cstdio>
#include <memory>

#include "cli/commands.hpp"
#include "cli/json_text.hpp"
#include "cli/progress_line.hpp"
#include "cli/text.hpp"
#include "model/trace_diff.hpp"

namespace reprise::cli {

namespace {

using model::Change;
using model::GraphDiff;

struct DiffOptions {
  std::string a, b;
  bool json = false;
};

const char* verdict(const Change& c) {
  if (c.count_a < model::kMinSamples || c.count_b < model::kMinSamples) return "too few";
  if (!c.is_significant) return "same";
  return c.comparison.b_is_longer > 0.5 ? "slower" : "faster";
}

std::string p_text(const Change& c) {
  char text[32];
  std::snprintf(text, sizeof text, c.comparison.p < 0.001 ? "<0.001" : "%.3f", c.comparison.p);
  return text;
}

std::vector<std::string> row(std::vector<std::string> cells, const Change& c) {
  const std::string difference =
      (c.median_b < c.median_a ? "-" : "+") + microseconds(std::abs(c.median_b - c.median_a));
  for (std::string cell : {with_separators(c.count_a), with_separators(c.count_b),
                           microseconds(c.median_a), microseconds(c.median_b), difference,
                           c.median_a > 0 ? signed_percent(c.relative) : std::string(), p_text(c),
                           std::string(verdict(c))}) {
    cells.push_back(std::move(cell));
  }
  return cells;
}

void print_list(const char* what, const std::vector<std::string>& names) {
  for (const std::string& name : names) write_out("  %s: %s\n", what, printable(name).c_str());
}

void print(const DiffOptions& options, const model::TraceDiff& d) {
  write_out("A: %s\nB: %s\n", printable(options.a).c_str(), printable(options.b).c_str());
  print_list("graph only in A", d.only_a);
  print_list("graph only in B", d.only_b);
  for (const GraphDiff& g : d.graphs) {
    write_out("\n%s: %s\n", printable(g.name).c_str(),
              g.same_plan ? "same plan" : "the plan changed");
    Table replays(1, {"", "count A", "count B", "median A us", "median B us", "change us", "change",
                      "p", "verdict"});
    if (g.device_time.count_a != 0 || g.device_time.count_b != 0)
      replays.add(row({"device time"}, g.device_time));
    if (g.launch_call.count_a != 0 || g.launch_call.count_b != 0)
      replays.add(row({"launch call"}, g.launch_call));
    if (g.launch_latency.count_a != 0 || g.launch_latency.count_b != 0)
      replays.add(row({"launch latency"}, g.launch_latency));
    if (!replays.empty()) write_out("%s", replays.text().c_str());
    Table nodes(2, {"node", "label", "count A", "count B", "median A us", "median B us",
                    "change us", "change", "p", "verdict"});
    for (const model::NodeChange& n : g.nodes) nodes.add(row({n.name, n.label_path}, n.time));
    if (!nodes.empty()) write_out("\n%s", nodes.text().c_str());
    print_list("node only in A", g.removed);
    print_list("node only in B", g.added);
  }
  write_out(
      "\np: two-sided Mann-Whitney U test. The verdict is slower or faster if p, multiplied by the "
      "number of nodes "
      "compared, is below %.2f.\n",
      model::kSignificanceLevel);
}

nlohmann::ordered_json diff_json(const Change& c) {
  return {{"count_a", c.count_a},
          {"count_b", c.count_b},
          {"median_a_ns", c.median_a},
          {"median_b_ns", c.median_b},
          {"change", c.relative},
          {"p", c.comparison.p},
          {"b_is_longer", c.comparison.b_is_longer},
          {"significant", c.is_significant},
          {"verdict", verdict(c)}};
}

nlohmann::ordered_json diff_json(const DiffOptions& options, const model::TraceDiff& d) {
  nlohmann::ordered_json graphs = nlohmann::ordered_json::array();
  for (const GraphDiff& g : d.graphs) {
    nlohmann::ordered_json nodes = nlohmann::ordered_json::array();
    for (const model::NodeChange& n : g.nodes) {
      nodes.push_back({{"name", n.name},
                       {"label", n.label_path},
                       {"node_a", n.node_a},
                       {"node_b", n.node_b},
                       {"time", diff_json(n.time)}});
    }
    graphs.push_back({{"name", g.name},
                      {"graph_a", g.graph_a},
                      {"version_a", g.version_a},
                      {"graph_b", g.graph_b},
                      {"version_b", g.version_b},
                      {"same_plan", g.same_plan},
                      {"device_time", diff_json(g.device_time)},
                      {"launch_call", diff_json(g.launch_call)},
                      {"launch_latency", diff_json(g.launch_latency)},
                      {"nodes", std::move(nodes)},
                      {"only_a", g.removed},
                      {"only_b", g.added}});
  }
  return {{"a", options.a},
          {"b", options.b},
          {"significance", model::kSignificanceLevel},
          {"graphs", std::move(graphs)},
          {"only_a", d.only_a},
          {"only_b", d.only_b}};
}

model::TraceSummary read(const std::string& file) {
  const trace::TraceReader reader(file);
  ProgressLine line("reading " + file);
  return model::summarize(
      reader, [&](std::uint64_t done, std::uint64_t total) { line.update(done, total); });
}

int run(const DiffOptions& options) {
  const model::TraceSummary a = read(options.a), b = read(options.b);
  const model::TraceDiff d = model::diff(a, b);
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
      "Graphs match by name; nodes match by name, label and kind, in command order. p is the "
      "p-value of the Mann-Whitney U test: the\n"
      "probability of a difference at least this large if nothing changed and samples are "
      "independent.\n"
      "Examples:\n  reprise diff before.reprise after.reprise\n"
      "  reprise diff before.reprise after.reprise --json | jq '.graphs[].nodes[] | "
      "select(.time.verdict == \"slower\").name'");
  return {app, [options] { return run(*options); }};
}

}  // namespace reprise::cli
