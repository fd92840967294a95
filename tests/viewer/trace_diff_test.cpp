#include <doctest/doctest.h>

#include "model/trace_diff.hpp"
#include "support/paths.hpp"
#include "viewer/hand_made_trace.hpp"

using namespace reprise;
using test::HandMadeTrace;

namespace {

model::TraceSummary summary_of(const HandMadeTrace& options) {
  const std::filesystem::path path = test::scratch_folder() / "diff.reprise";
  test::write_hand_made_trace(path, options);
  return model::summarize(trace::TraceReader(path));
}

}  // namespace

TEST_CASE("trace diff: a trace does not differ from itself") {
  const model::TraceSummary s = summary_of({});
  const model::TraceDiff d = model::diff(s, s);
  REQUIRE(d.graphs.size() == 2);
  CHECK(d.only_a.empty());
  CHECK(d.only_b.empty());
  for (const model::GraphDiff& g : d.graphs) {
    CHECK(g.same_plan);
    CHECK_FALSE(g.device_time.is_significant);
    CHECK(g.nodes.size() == HandMadeTrace::kNodes);
    CHECK(g.added.empty());
    CHECK(g.removed.empty());
    for (const model::NodeChange& n : g.nodes) {
      CHECK(n.node_a == n.node_b);
      CHECK(n.time.relative == 0);
      CHECK_FALSE(n.time.is_significant);
    }
  }
}

TEST_CASE("trace diff: the node that became slower comes first and is the only significant one") {
  const model::TraceDiff d = model::diff(summary_of({}), summary_of({.slow_node = 2}));
  REQUIRE(d.graphs.size() == 2);
  const model::GraphDiff& step = d.graphs[1];
  REQUIRE(step.name == "step");
  CHECK(step.device_time.is_significant);
  CHECK(step.device_time.relative > 0);
  CHECK(step.nodes[0].name == "blur");
  CHECK(step.nodes[0].time.relative == doctest::Approx(0.5).epsilon(0.01));
  CHECK(step.nodes[0].time.comparison.b_is_longer == 1);
  for (std::size_t i = 0; i < step.nodes.size(); ++i)
    CHECK(step.nodes[i].time.is_significant == (i == 0));
  CHECK_FALSE(d.graphs[0].device_time.is_significant);
}

TEST_CASE("trace diff: nodes without a partner are listed, and the others still match") {
  const model::TraceDiff d = model::diff(summary_of({}), summary_of({.renamed_node = 2}));
  const model::GraphDiff& step = d.graphs.at(1);
  CHECK(step.removed == std::vector<std::string>{"epoch / forward / blur"});
  CHECK(step.added == std::vector<std::string>{"epoch / forward / renamed"});
  CHECK(step.nodes.size() == HandMadeTrace::kNodes - 1);
}

TEST_CASE("trace diff: equal nodes match in command order, whatever their node order") {
  const auto summary = [](std::uint32_t first, std::uint32_t second, std::int64_t time_of_first) {
    model::TraceSummary s;
    model::GraphSummary& g = s.graphs.emplace_back();
    g.name = "step";
    g.nodes.resize(2);
    for (model::NodeSummary& n : g.nodes) n.name = "twice";
    g.nodes[first].command = 0;
    g.nodes[second].command = 1;
    g.nodes[0].node = 0;
    g.nodes[1].node = 1;
    g.nodes[first].times.add(time_of_first);
    g.nodes[second].times.add(50);
    return s;
  };
  const model::TraceDiff d = model::diff(summary(0, 1, 10), summary(1, 0, 20));
  REQUIRE(d.graphs.size() == 1);
  REQUIRE(d.graphs[0].nodes.size() == 2);
  CHECK(d.graphs[0].nodes[0].node_a == 0);
  CHECK(d.graphs[0].nodes[0].node_b == 1);
  CHECK(d.graphs[0].nodes[0].time.median_a == 10);
  CHECK(d.graphs[0].nodes[0].time.median_b == 20);
  CHECK(d.graphs[0].nodes[1].time.relative == 0);
}

TEST_CASE("trace diff: graphs of only one trace are listed") {
  model::TraceSummary a = summary_of({});
  model::TraceSummary b = summary_of({});
  b.graphs[1].name = "new";
  const model::TraceDiff d = model::diff(a, b);
  CHECK(d.graphs.size() == 1);
  CHECK(d.only_a == std::vector<std::string>{"other"});
  CHECK(d.only_b == std::vector<std::string>{"new"});
}

TEST_CASE("trace diff: replays are compared even without samples") {
  const model::TraceDiff d = model::diff(summary_of({.samples = false}), summary_of({}));
  REQUIRE(d.graphs.size() == 2);
  CHECK(d.graphs[1].device_time.count_a == HandMadeTrace::kStepReplays);
  REQUIRE(d.graphs[1].nodes.size() == HandMadeTrace::kNodes);
  CHECK(d.graphs[1].nodes[0].time.count_a == 0);
  CHECK_FALSE(d.graphs[1].nodes[0].time.is_significant);
}
