#include <algorithm>
#include <memory>
#include <stdexcept>

#include <reprise/cost_profile.hpp>

#include "cli/commands.hpp"
#include "cli/json_text.hpp"
#include "cli/text.hpp"

namespace reprise::cli {

namespace {

struct CostsOptions {
  std::string file, graph, output;
  bool json = false;
};

const char* clock_name(GraphCosts::TimedBy timed_by) {
  switch (timed_by) {
    case GraphCosts::TimedBy::HostClock: return "the host clock";
    case GraphCosts::TimedBy::Timestamps: return "timestamps";
    case GraphCosts::TimedBy::Profiler: break;
  }
  return "the profiler";
}

// The cost profile of the selected graphs.
CostProfile read(const CostsOptions& options) {
  CostProfile costs = *load_cost_profile(options.file);
  if (options.graph.empty()) return costs;
  std::erase_if(costs.graphs,
                [&](const GraphCosts& graph) { return graph.label != options.graph; });
  std::erase_if(costs.untimed, [&](const std::string& label) { return label != options.graph; });
  if (!costs.graphs.empty()) return costs;
  throw std::runtime_error(
      options.file + (costs.untimed.empty() ? " has no graph " : " has no node times of graph ") +
      options.graph);
}

void print(const CostProfile& costs) {
  for (const GraphCosts& graph : costs.graphs) {
    write_out("%s (plan %s) on %s: medians of %s, timed by %s\n", printable(graph.label).c_str(),
              hex(graph.plan_hash).c_str(), printable(graph.device).c_str(),
              counted(graph.replays, "replay").c_str(), clock_name(graph.timed_by));
    Table table(3, {"command", "name", "label", "threads or bytes", "us"});
    for (const CommandCost& cost : graph.commands) {
      table.add({std::to_string(cost.command), cost.name, cost.label, with_separators(cost.work),
                 microseconds(1e3 * cost.time.count())});
    }
    write_out("%s\n", table.text().c_str());
  }
  for (const std::string& label : costs.untimed)
    write_out("%s: no replay with node times\n", printable(label).c_str());
}

void print_json(const CostProfile& costs) {
  nlohmann::ordered_json graphs = nlohmann::ordered_json::array();
  for (const GraphCosts& graph : costs.graphs) {
    nlohmann::ordered_json commands = nlohmann::ordered_json::array();
    for (const CommandCost& cost : graph.commands) {
      commands.push_back({{"command", cost.command},
                          {"name", cost.name},
                          {"label", cost.label},
                          {"work", cost.work},
                          {"us", cost.time.count()}});
    }
    graphs.push_back({{"name", graph.label},
                      {"device", graph.device},
                      {"plan_hash", hex(graph.plan_hash)},
                      {"replays", graph.replays},
                      {"timed_by", clock_name(graph.timed_by)},
                      {"commands", std::move(commands)}});
  }
  write_out("%s", json_text({{"graphs", std::move(graphs)}, {"untimed", costs.untimed}}).c_str());
}

int run(const CostsOptions& options) {
  const CostProfile costs = read(options);
  if (!options.output.empty()) save_cost_profile(costs, options.output);
  if (options.json) {
    print_json(costs);
  } else {
    print(costs);
  }
  return kDone;
}

}  // namespace

Command add_costs(CLI::App& program) {
  CLI::App* app = program.add_subcommand(
      "costs", "Print the median time of every command, or write a cost profile for compilation");
  auto options = std::make_shared<CostsOptions>();
  app->add_option("FILE", options->file, "trace with node times, or a cost profile written by -o")
      ->required();
  app->add_option("--graph", options->graph, "include only graphs with this label")
      ->type_name("LABEL");
  app->add_flag("--json", options->json, "print JSON");
  app->add_option("-o,--output", options->output,
                  "also write a cost profile, a small file that load_cost_profile() accepts")
      ->type_name("FILE");
  app->footer(
      "Medians cover the newest replays with node times and exclude the overhead of the "
      "timestamps; the time of a loop is the total of its iterations in a replay.\n"
      "Compile with the costs by CompileDesc::costs = load_cost_profile(FILE).\n"
      "Examples:\n  reprise costs run.reprise\n  reprise costs run.reprise --graph step -o "
      "step.costs.json");
  return {app, [options] { return run(*options); }};
}

}  // namespace reprise::cli
