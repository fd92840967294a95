// Traces of graphs with bodies on the host device: nodes of bodies are separate nodes with a time
// per iteration.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <reprise/reprise.hpp>
#include <string>
#include <utility>
#include <vector>

#include "unit/profile/traced_run.hpp"

using namespace reprise;
using namespace reprise::test;

namespace {

// Records with `record`, launches `launches` times with every node timed, and returns all records
// of the trace.
template <class Record>
trace::Records traced(const TraceFolder& folder, unsigned launches, const Record& record) {
  {
    const Instance instance({.application = "bodies",
                             .trace = {.target = folder.file(), .profile = ProfileMode::Every}});
    const Device device = instance.open_device(DeviceSelector::named("host"));
    {
      const auto pool = device.create_pool({.label = "pool"});
      CommandBuffer cmd = device.create_command_buffer({.label = "step"});
      cmd.begin();
      record(device, *pool, cmd);
      cmd.end();
      CapturedGraph graph = device.compile(cmd, {.pool = pool});
      const Queue queue = device.create_queue({.label = "main"});
      for (unsigned i = 0; i < launches; ++i) graph.launch(queue).wait();
    }
    device.wait_idle();
  }
  return all_records(folder.file());
}

template <class Record>
CommandBuffer secondary(const Device& device, std::string_view label, const Record& record) {
  CommandBuffer made = device.create_command_buffer({.label = label, .level = Level::Secondary});
  made.begin();
  record(made);
  made.end();
  return made;
}

std::string name_of(const trace::GraphVersion& g, std::uint32_t node) {
  return g.strings[g.nodes[node].name];
}

}  // namespace

TEST_CASE(
    "traced bodies: nodes in loops, branches and nested command buffers are separate nodes with a "
    "time for each run") {
  const TraceFolder folder;
  const trace::Records r =
      traced(folder, 2, [](const Device& device, CapturePool& pool, CommandBuffer& cmd) {
        const auto x = pool.allocate<unsigned>(64, "x"), y = pool.allocate<unsigned>(64, "y");
        const Condition go = device.create_condition({.name = "go", .initial = 1}),
                        no = device.create_condition({.name = "no"});
        const CommandBuffer inner = secondary(device, "inner", [&](CommandBuffer& c) {
          const auto label = c.label("copies");
          c.copy(x, y);
        });
        const CommandBuffer iteration = secondary(device, "iteration", [&](CommandBuffer& c) {
          c.fill(x, 1u);
          c.execute(inner, Nested);
        });
        const CommandBuffer then =
            secondary(device, "then", [&](CommandBuffer& c) { c.fill(y, 2u); });
        const CommandBuffer other =
            secondary(device, "other", [&](CommandBuffer& c) { c.fill(y, 3u); });
        const auto label = cmd.label("solve");
        cmd.execute_while(go, iteration, {.max_iterations = 3});
        cmd.execute_if(no, then, other);
      });
  REQUIRE(r.graph_versions.size() == 1);
  const trace::GraphVersion& g = r.graph_versions[0];
  REQUIRE(g.nodes.size() == 2 + 2 + 1 + 1 + 1);
  using trace::BodyKind;
  CHECK(g.bodies == std::vector<trace::Body>{{0, 0, 2, 2, BodyKind::Loop},
                                             {1, 0, 4, 1, BodyKind::Then},
                                             {1, 1, 5, 1, BodyKind::Else},
                                             {3, 0, 6, 1, BodyKind::Nested}});
  CHECK(name_of(g, 2) == "fill x");
  CHECK(name_of(g, 6) == "copy x -> y");
  // Buffers belong to the graph; labels are below the node that runs the body.
  CHECK(g.strings[g.buffers[g.accesses[g.nodes[6].first_access].buffer].name] == "x");
  std::vector<std::string> path;
  for (std::uint32_t l = g.nodes[6].label; l != 0; l = g.labels[l].parent)
    path.push_back(g.strings[g.labels[l].name]);
  CHECK(path == std::vector<std::string>{"copies", "nested inner", "while go: iteration", "solve"});
  CHECK(std::count_if(g.edges.begin(), g.edges.end(),
                      [](const trace::Edge& e) { return e.from == 2 && e.to == 3; }) == 1);

  REQUIRE(r.sample_blocks.size() == 2);
  for (const trace::SampleBlock& block : r.sample_blocks) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, trace::Sample> samples;
    for (const trace::Sample& s : block.samples) samples[{s.node, s.occurrence}] = s;
    CHECK(samples.size() == block.samples.size());
    for (std::uint32_t node = 0; node < 7; ++node) {
      const std::uint32_t runs = node == 4 ? 0 : node == 2 || node == 3 || node == 6 ? 3 : 1;
      for (std::uint32_t i = 0; i < 4; ++i) {
        INFO("node ", node, " run ", i);
        CHECK(samples.count({node, i}) == (i < runs ? 1 : 0));
      }
    }
    // A run is within its parent's run.
    const auto ends = [](const trace::Sample& s) { return s.started + s.duration; };
    for (std::uint32_t i = 0; i < 3; ++i) {
      const trace::Sample &inner = samples.at({6, i}), &nested = samples.at({3, i}),
                          &loop = samples.at({0, 0});
      CHECK(nested.started <= inner.started);
      CHECK(ends(inner) <= ends(nested));
      CHECK(loop.started <= nested.started);
      CHECK(ends(nested) <= ends(loop));
      if (i > 0) CHECK(ends(samples.at({3, i - 1})) <= samples.at({2, i}).started);
    }
  }
  CHECK(r.loop_runs ==
        std::vector<trace::LoopRun>{{g.graph, 1, 0, 1, 3, 3}, {g.graph, 1, 0, 2, 3, 3}});
  CHECK(r.losses.empty());
}

TEST_CASE("traced bodies: iterations beyond the capacity are counted and reported as untimed") {
  const TraceFolder folder;
  constexpr std::uint64_t kRounds = 1500, kKept = 1024;
  const trace::Records r =
      traced(folder, 1, [](const Device& device, CapturePool& pool, CommandBuffer& cmd) {
        const auto x = pool.allocate<unsigned>(64, "x");
        const Condition go = device.create_condition({.name = "go", .initial = 1});
        const CommandBuffer iteration = secondary(device, "iteration", [&](CommandBuffer& c) {
          c.fill(x, 1u);
          c.fill(x, 2u);
        });
        cmd.execute_while(go, iteration, {.max_iterations = kRounds});
      });
  REQUIRE(r.loop_runs.size() == 1);
  CHECK(r.loop_runs[0].iterations == kRounds);
  CHECK(r.loop_runs[0].timed == kKept);
  REQUIRE(r.sample_blocks.size() == 1);
  CHECK(r.sample_blocks[0].samples.size() == 1 + 2 * kKept);
  REQUIRE(r.losses.size() == 1);
  CHECK(r.losses[0].kind == trace::LossKind::NodeRuns);
  CHECK(r.losses[0].count == 2 * (kRounds - kKept));
}
