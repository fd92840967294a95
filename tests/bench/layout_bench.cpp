#include "layout/layout.hpp"

#include "bench.hpp"
#include "viewer/layout/graph_shapes.hpp"

namespace reprise::bench {

namespace {

struct LayoutInput {
  const char* name;
  viewer::LayoutGraph (*make)(std::uint32_t nodes);
};
constexpr LayoutInput kLayoutInputs[] = {
    {"random, near edges",
     [](std::uint32_t n) {
       return test::random_dag({.nodes = n, .edges = 2 * n, .reach = 40, .seed = 1});
     }},
    {"random, far edges",
     [](std::uint32_t n) { return test::random_dag({.nodes = n, .edges = 2 * n, .seed = 1}); }},
    {"layers of 20",
     [](std::uint32_t n) {
       return test::random_layers({.layers = n / 20, .width = 20, .edges_each = 2, .seed = 1});
     }},
    {"chain with nested edges", [](std::uint32_t n) { return test::nested_chain(n, n, 1); }},
    {"tree", [](std::uint32_t n) { return test::random_tree(n, 1); }},
};

}  // namespace

void run_layout(const Options& options, Report& report) {
  for (const std::uint32_t nodes : {1000u, 10000u}) {
    if (options.is_quick() && nodes > 1000) continue;
    for (const LayoutInput& input : kLayoutInputs) {
      const viewer::LayoutGraph graph = input.make(nodes);
      Line line{.what = "layout", .shape = input.name, .nodes = nodes, .unit = "ms"};
      line.goal = {.of = Goal::Of::Median, .at_most = nodes > 1000 ? 300.0 : 20.0};
      Line crossings{.what = "crossings", .shape = input.name, .nodes = nodes, .unit = "pairs"};
      for (std::uint32_t sample = 0; sample < (options.is_quick() ? 2u : 7u); ++sample) {
        viewer::Layout layout;
        line.ours.push_back(cpu_ns_of([&] { layout = viewer::lay_out(graph, {}); }) / 1e6);
        crossings.ours.assign(1, static_cast<double>(layout.statistics.crossings));
      }
      report.add(line);
      report.add(crossings);
    }
  }
}

}  // namespace reprise::bench
