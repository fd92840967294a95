// updates: changes one graph between replays by every update method, cheapest first, and prints the
// time of each.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <string>

#include "series.hpp"
#include "support/program.hpp"

using namespace reprise;

namespace {

using Clock = std::chrono::steady_clock;

double us_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
}

class Ladder {
 public:
  Ladder(const Device& device, const samples::SeriesDesc& desc) : series_(device, desc) {
    const auto begin = Clock::now();
    graph_ = device.compile(series_.record(recipe_), {.pool = series_.pool()});
    graph_.upload(series_.queue());
    series_.queue().wait_idle();
    std::printf("updates: %s, in %.0f us\n\n", samples::describe(graph_.report()).c_str(),
                us_since(begin));
    std::printf("%-54s %-16s %7s %10s\n", "change", "method", "nodes", "us");
    now_.slot_term = samples::Series::kSlotTerm;
  }

  void climb(std::uint32_t steps) {
    replay("");
    auto term = graph_.scalar<unsigned>("term");
    now_.slot_term = 77;
    measure("a scalar slot", [&] { return nodes_set(term.set(77)); });
    now_.last = 5;
    measure("a DeviceScalar, in the order of its queue", [&] {
      series_.set_last_term(5);
      return nodes_set(0);
    });
    now_.slot_step_enabled = false;
    measure("a command is disabled", [&] {
      graph_.disable(series_.slot_step());
      return nodes_set(1);
    });
    now_.slot_step_enabled = true;
    measure("and enabled", [&] {
      graph_.enable(series_.slot_step());
      return nodes_set(1);
    });
    const auto other = series_.filled(series_.queue(), 9);
    now_.first = 9;
    measure("another input buffer", [&] { return graph_.rebind(series_.input(), other); });
    now_ = {.first = 0, .slot_term = samples::Series::kSlotTerm, .last = 5};
    change("the original recording, including its buffers", {}, {});
    change("a recording with another term in one step",
           {.different_at = steps / 4, .different_term = 1000}, {});
    change("a recording with another term in every step", {.term = 3}, {});
    change("one more step, only by cudaGraphExecUpdate", {.term = 3, .more_steps = 1},
           {.first = UpdateMethod::WholeGraph, .last = UpdateMethod::WholeGraph});
    change("one more step, by any method", {.term = 3, .more_steps = 1}, {});
  }

 private:
  static UpdateReport nodes_set(std::uint32_t nodes) {
    UpdateReport report;
    report.method = nodes == 0 ? UpdateMethod::Unchanged : UpdateMethod::Nodes;
    report.nodes = nodes;
    return report;
  }

  void change(const char* what, const samples::Series::Recipe& recipe, const UpdateDesc& desc) {
    const CommandBuffer commands = series_.record(recipe);
    const auto before = recipe_;
    recipe_ = recipe;
    measure(what, [&] {
      const UpdateReport report = graph_.update(commands, desc);
      if (!report.done()) recipe_ = before;
      return report;
    });
  }

  template <class Change>
  void measure(const char* what, const Change& act) {
    const auto begin = Clock::now();
    const UpdateReport report = act();
    const double us = us_since(begin);
    const std::string method = report.done() ? std::string(to_string(report.method)) : "refused";
    std::printf("%-54s %-16s %7u %10.1f%s%s\n", what, method.c_str(), report.nodes, us,
                report.reason.empty() ? "" : "  ", report.reason.c_str());
    replay(what);
  }

  void replay(const char* after) {
    graph_.launch(series_.queue()).wait();
    const unsigned right = series_.expected(recipe_, now_);
    const auto values = series_.result().span();
    if (!std::ranges::all_of(values, [&](unsigned value) { return value == right; })) {
      throw std::runtime_error(std::string("the replay is wrong after: ") +
                               (after[0] == '\0' ? "the compile" : after));
    }
  }

  samples::Series series_;
  samples::Series::Recipe recipe_;
  samples::Series::Now now_;
  CapturedGraph graph_;
};

}  // namespace

int main(int argc, char** argv) {
  samples::Program program("updates",
                           "Changes one graph between replays by every update method and "
                           "prints the time of each.");
  samples::SeriesDesc desc;
  program.options.add_option("--steps", desc.steps, "commands of the graph")
      ->capture_default_str()
      ->check(CLI::Range(4u, 20000u));
  program.options.add_option("--values", desc.values, "values per command")
      ->capture_default_str()
      ->check(CLI::Range(1u, 1u << 24));
  return program.run(argc, argv, [&] {
    const Instance instance({.application = "updates", .cuda_graphs = CudaGraphs::Exclusive});
    const Device device = program.open_device(instance);
    Ladder(device, desc).climb(desc.steps);
    std::printf("\nupdates: every replay was correct\n");
    return true;
  });
}
