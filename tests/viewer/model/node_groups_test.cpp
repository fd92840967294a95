#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "model/node_groups.hpp"
#include "viewer/model/random_graph.hpp"
#include "viewer/model/small_trace.hpp"

using namespace reprise;

namespace {

// load (no label, a copy), saxpy (epoch / forward), blur (epoch), both with the kernel "saxpy".
model::Graph small_graph() { return model::Graph(test::small_topology().graph_versions[0]); }

const model::NodeGroup& named(const std::vector<model::NodeGroup>& groups,
                              const std::string& name) {
  return *std::find_if(groups.begin(), groups.end(),
                       [&](const model::NodeGroup& g) { return g.name == name; });
}

}  // namespace

TEST_CASE("node groups: nodes of one kernel are one group, nodes without a kernel one per kind") {
  const model::Graph graph = small_graph();
  const model::NodeTimes times{&graph, {100, 60, 240}, {2, 2, 3}};
  const std::vector<model::NodeGroup> groups = model::groups_by_kernel({&times, 1});
  REQUIRE(groups.size() == 2);
  CHECK(groups[0].name == "saxpy");
  CHECK(groups[0].nodes == 2);
  CHECK(groups[0].samples == 5);
  CHECK(groups[0].total == 300);
  CHECK(groups[0].mean() == 60);
  CHECK(groups[0].share == doctest::Approx(0.75));
  CHECK(groups[0].node == 2);
  CHECK(groups[1].name == "copy");
}

TEST_CASE("node groups: kinds are those of the kernels, of ops, and otherwise of the nodes") {
  trace::GraphVersion record = small_graph().record();
  const auto text = [&](const char* name) {
    record.strings.push_back(name);
    return static_cast<std::uint32_t>(record.strings.size() - 1);
  };
  record.nodes[1].kind = trace::NodeKind::Child;
  record.nodes[1].kernel = trace::kNone;
  record.nodes[1].name = text("op sgemm");
  record.kernels = {{text("direct_copy"), text("void at::direct_copy_kernel_cuda(int)"), 0, 0}};
  record.nodes[2].kernel = 0;
  const auto kinds = [](const model::Graph& graph) {
    const model::NodeTimes times{&graph, {100, 60, 240}, {2, 2, 3}};
    std::string all;
    for (const model::NodeGroup& group : model::groups_by_kind({&times, 1}))
      all += group.name + " " + std::to_string(int(group.total)) + ";";
    return all;
  };
  CHECK(kinds(model::Graph(record)) == "copy 340;GEMM 60;");
  record.nodes[1].name = text("op rng_fill_uniform");
  record.kernels = {{text("step"), text("step(float*)"), 0, 0}};
  CHECK(kinds(model::Graph(record)) == "dispatch 240;copy 100;child graph 60;");
}

TEST_CASE("node groups: nodes of one source line are one group, named by file and folder") {
  trace::GraphVersion record = small_graph().record();
  record.strings.insert(record.strings.end(), {"/home/a/net/layers.py", "main.py"});
  const auto strings = static_cast<std::uint32_t>(record.strings.size());
  const auto place = [&](std::size_t node, std::uint32_t file, std::uint32_t line) {
    record.nodes[node].file = file;
    record.nodes[node].line = line;
  };
  const auto groups = [&] {
    const model::Graph graph(record);
    const model::NodeTimes times{&graph, {100, 60, 240}, {2, 2, 3}};
    std::string all;
    for (const model::NodeGroup& group : model::groups_by_source({&times, 1}))
      all += group.name + " " + std::to_string(int(group.total)) + ";";
    return all;
  };
  place(0, strings - 2, 12), place(1, strings - 1, 3), place(2, strings - 2, 12);
  CHECK(groups() == "net/layers.py:12 340;main.py:3 60;");
  place(2, 0, 0);
  CHECK(groups() == "unknown line 240;net/layers.py:12 100;main.py:3 60;");
}

TEST_CASE("node groups: child graphs are grouped by the names of their nodes") {
  trace::GraphVersion record = small_graph().record();
  record.strings.push_back("gemm 512 x 512");
  for (const std::uint32_t n : {0u, 1u}) {
    record.nodes[n].kind = trace::NodeKind::Child;
    record.nodes[n].kernel = trace::kNone;
    record.nodes[n].name = static_cast<std::uint32_t>(record.strings.size() - 1);
  }
  const model::Graph graph(std::move(record));
  const model::NodeTimes times{&graph, {100, 60, 240}, {2, 2, 3}};
  const std::vector<model::NodeGroup> groups = model::groups_by_kernel({&times, 1});
  REQUIRE(groups.size() == 2);
  CHECK(groups[1].name == "gemm 512 x 512");
  CHECK(groups[1].nodes == 2);
}

TEST_CASE("node groups: a label contains its labels and, as leaves, the kernels of its nodes") {
  const model::Graph graph = small_graph();
  const model::NodeTimes times{&graph, {100, 60, 240}, {2, 2, 3}};
  const std::vector<model::NodeGroup> groups = model::groups_by_label({&times, 1});
  std::string text;
  for (const model::NodeGroup& g : groups)
    text += std::string(g.depth, ' ') + g.name + " " + std::to_string(int(g.total)) + ";";
  CHECK(text == " 400; epoch 300;  saxpy 240;  forward 60;   saxpy 60; copy 100;");
  for (std::uint32_t i = 1; i < groups.size(); ++i) {
    CHECK(groups[i].parent < i);
    CHECK(groups[i].depth == groups[groups[i].parent].depth + 1);
  }
  CHECK(groups[0].share == 1);
}

TEST_CASE("node groups: several graphs add up, and equal labels are one group") {
  const model::Graph graph = small_graph();
  const model::NodeTimes graphs[] = {{&graph, {100, 60, 240}, {2, 2, 3}},
                                     {&graph, {0, 600, 0}, {0, 6, 0}}};
  const std::vector<model::NodeGroup> kernels = model::groups_by_kernel(graphs);
  CHECK(named(kernels, "saxpy").total == 900);
  CHECK(named(kernels, "saxpy").graph == 1);
  CHECK(named(kernels, "saxpy").node == 1);
  const std::vector<model::NodeGroup> labels = model::groups_by_label(graphs);
  CHECK(labels.size() == 6);
  CHECK(named(labels, "forward").total == 660);
}

TEST_CASE("node groups: shares of all kernels add up to 1, also with bodies") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    trace::GraphVersion record = test::random_graph(seed, {.density = 0});
    record.edges.clear();
    record.bodies = {{2, 0, 8, 4, trace::BodyKind::Loop}};
    const model::Graph graph(record);
    model::NodeTimes times{&graph, {}, {}};
    for (std::uint32_t n = 0; n < graph.node_count(); ++n) {
      times.totals.push_back(n == 2 ? 1'000 : 10.0 * (n + seed));
      times.counts.push_back(1);
    }
    double share = 0;
    for (const model::NodeGroup& group : model::groups_by_kernel({&times, 1})) share += group.share;
    CHECK(share == doctest::Approx(1));
    CHECK(model::groups_by_label({&times, 1})[0].share == doctest::Approx(1));
  }
}
