#include <doctest/doctest.h>

#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <reprise/cost_profile.hpp>
#include <reprise/error.hpp>

#include "support/thrown_by.hpp"
#include "trace/chunk.hpp"
#include "trace/trace_file.hpp"
#include "unit/profile/traced_run.hpp"

using namespace reprise;
using namespace reprise::test;

namespace {

using trace::SampleSource;

// Two dispatches and a loop with a body of one node, between entry and exit kernels.
trace::GraphVersion step(std::uint32_t version = 1) {
  trace::GraphVersion g;
  g.graph = 3;
  g.version = version;
  g.device = 1;
  g.label = "step";
  g.plan_hash = 7;
  g.strings = {"", "forward", "layer", "mul", "while go", "fill x"};
  g.labels = {{0, 0, 0}, {0, 1, 0}, {1, 2, 0}};
  g.kernels = {{3, 3, 0, 0}};
  g.nodes.resize(6);
  g.nodes[0].kind = trace::NodeKind::Entry;
  g.nodes[4].kind = trace::NodeKind::Exit;
  // Nodes are not in recorded order, as a lowering may place them.
  for (const std::uint32_t node : {1u, 2u}) {
    trace::Node& dispatch = g.nodes[node];
    dispatch = {.kind = trace::NodeKind::Dispatch,
                .name = 3,
                .label = 2,
                .kernel = 0,
                .command = 2 - node,
                .grid = {2, 1, 1},
                .block = {32, 1, 1}};
  }
  g.nodes[3].kind = trace::NodeKind::Conditional;
  g.nodes[3].name = 4;
  g.nodes[3].command = 2;
  g.nodes[5].kind = trace::NodeKind::Fill;
  g.nodes[5].name = 5;
  g.nodes[5].command = 0;
  g.bodies = {{3, 0, 5, 1, trace::BodyKind::Loop}};
  return g;
}

// Times of nodes in one replay: node, start and duration.
trace::SampleBlock block(std::uint64_t replay, SampleSource source,
                         std::vector<trace::Sample> samples, std::uint32_t version = 1) {
  return {3, version, 0, replay, source, std::move(samples)};
}

void write(const std::string& path, const std::vector<trace::GraphVersion>& graphs,
           const std::vector<trace::SampleBlock>& blocks) {
  trace::TraceFile file({.path = path});
  trace::Records topology, samples;
  topology.devices.push_back({.id = 1, .name = "some GPU", .selector = "cuda:0"});
  topology.graph_versions = graphs;
  samples.sample_blocks = blocks;
  file.write(
      std::make_shared<const trace::Chunk>(make_chunk(trace::ChunkKind::Topology, topology, 0)));
  if (!blocks.empty())
    file.write(
        std::make_shared<const trace::Chunk>(make_chunk(trace::ChunkKind::Samples, samples, 1)));
  file.flush();
}

std::string refused(const std::string& path, ErrorCode code) {
  const Error error = thrown_by([&] { static_cast<void>(load_cost_profile(path)); });
  CHECK(to_string(error.code()) == to_string(code));
  CHECK(std::string(error.what()).find(path) != std::string::npos);
  return error.what();
}

}  // namespace

TEST_CASE("trace cost profile: costs are medians over replays by command, with the command's key") {
  const TraceFolder folder;
  write(folder.file(), {step()},
        {block(1, SampleSource::Host,
               {{1, 0, 1000, 4000, 0}, {2, 0, 1000, 100, 0}, {4, 0, 9000, 1, 0}}),
         block(2, SampleSource::Host, {{1, 0, 1000, 5000, 0}, {2, 0, 1000, 300, 0}}),
         block(3, SampleSource::Host, {{1, 0, 1000, 90000, 0}, {2, 0, 0, 999, 0}}),  // lost
         block(4, SampleSource::Host, {})});
  const auto costs = load_cost_profile(folder.file());
  CHECK(costs->source == folder.file());
  CHECK(costs->untimed.empty());
  REQUIRE(costs->graphs.size() == 1);
  const GraphCosts& graph = costs->graphs[0];
  CHECK(graph.label == "step");
  CHECK(graph.device == "some GPU");
  CHECK(graph.plan_hash == 7);
  CHECK(graph.timed_by == GraphCosts::TimedBy::HostClock);
  CHECK(graph.replays == 3);
  REQUIRE(graph.commands.size() == 2);
  CHECK(graph.commands[0].command == 0);
  CHECK(graph.commands[0].label == "forward/layer");
  CHECK(graph.commands[0].name == "mul");
  CHECK(graph.commands[0].work == 64);
  CHECK(graph.commands[0].time.count() == doctest::Approx(0.1));
  CHECK(graph.commands[1].command == 1);
  CHECK(graph.commands[1].time.count() == doctest::Approx(5));
}

TEST_CASE(
    "trace cost profile: the cost of a loop is its time in a replay, or the time of its bodies") {
  const TraceFolder folder;
  write(folder.file(), {step(), step(2)},
        {block(1, SampleSource::Cupti, {{5, 0, 1000, 500, 0}, {5, 1, 3000, 500, 0}}),
         block(2, SampleSource::Host, {{3, 0, 1000, 9000, 0}, {5, 0, 2000, 500, 0}}, 2)});
  const auto costs = load_cost_profile(folder.file());
  REQUIRE(costs->graphs.size() == 2);
  REQUIRE(costs->graphs[0].commands.size() == 1);
  CHECK(costs->graphs[0].commands[0].command == 2);
  CHECK(costs->graphs[0].commands[0].time.count() == doctest::Approx(2.5));
  CHECK(costs->graphs[1].commands[0].time.count() == doctest::Approx(9));
}

TEST_CASE(
    "trace cost profile: the profiler's times take precedence over timestamps, whose overhead is "
    "subtracted") {
  const TraceFolder folder;
  write(folder.file(), {step()},
        {block(1, SampleSource::Timestamp, {{1, 0, 1000, 12600, 0}, {2, 0, 1000, 700, 0}}),
         block(2, SampleSource::Cupti, {{2, 0, 1000, 2000, 0}})});
  const GraphCosts graph = load_cost_profile(folder.file())->graphs.at(0);
  CHECK(graph.timed_by == GraphCosts::TimedBy::Profiler);
  REQUIRE(graph.commands.size() == 2);
  CHECK(graph.commands[0].time.count() == doctest::Approx(2));
  CHECK(graph.commands[1].time.count() == doctest::Approx(10));  // not timed by the profiler
}

TEST_CASE("trace cost profile: nothing is subtracted from commands that timed themselves") {
  const TraceFolder folder;
  write(folder.file(), {step()},
        {block(1, SampleSource::Timestamp, {{1, 0, 1000, 12600, 0}, {2, 0, 1000, 700, 5}})});
  const GraphCosts graph = load_cost_profile(folder.file())->graphs.at(0);
  REQUIRE(graph.commands.size() == 2);
  CHECK(graph.commands[0].time.count() == doctest::Approx(0.7));
  CHECK(graph.commands[1].time.count() == doctest::Approx(10));
}

TEST_CASE("trace cost profile: only the most recent replays are used") {
  const TraceFolder folder;
  std::vector<trace::SampleBlock> blocks;
  for (std::uint64_t replay = 1; replay <= 200; ++replay) {
    blocks.push_back(
        block(replay, SampleSource::Host, {{1, 0, 1000, replay <= 136 ? 50000u : 2000u, 0}}));
  }
  write(folder.file(), {step()}, blocks);
  const GraphCosts graph = load_cost_profile(folder.file())->graphs.at(0);
  CHECK(graph.replays == 64);
  CHECK(graph.commands.at(0).time.count() == doctest::Approx(2));
}

TEST_CASE(
    "trace cost profile: a file that is missing, malformed, or without node times is refused "
    "by name") {
  const TraceFolder folder;
  CHECK(refused(folder.file(), ErrorCode::NativeFailure).find("No such file") != std::string::npos);
  std::ofstream(folder.file()) << "no trace at all, but long enough to look like one";
  refused(folder.file(), ErrorCode::InvalidArgument);
  write(folder.file(), {step()}, {});
  CHECK(refused(folder.file(), ErrorCode::InvalidArgument).find("ProfileMode::Sampled") !=
        std::string::npos);
  write(folder.file(), {step()}, {block(1, SampleSource::Host, {{1, 0, 0, 10, 0}})});
  refused(folder.file(), ErrorCode::InvalidArgument);
}

TEST_CASE("trace cost profile: a cost profile file contains all costs of the trace") {
  const TraceFolder folder;
  write(folder.file(), {step(), step(2)},
        {block(1, SampleSource::Timestamp, {{1, 0, 1000, 9000, 0}, {2, 0, 1000, 3600, 0}}),
         block(2, SampleSource::Cupti, {{5, 0, 1000, 700, 0}}, 2)});
  const auto loaded = load_cost_profile(folder.file());
  const std::string path = folder.file() + ".json";
  save_cost_profile(*loaded, path);
  const auto reloaded = load_cost_profile(path);
  CHECK(reloaded->source == path);
  REQUIRE(reloaded->graphs.size() == 2);
  for (std::size_t g = 0; g < 2; ++g) {
    const GraphCosts &a = loaded->graphs[g], &b = reloaded->graphs[g];
    CHECK(a.timed_by == b.timed_by);
    CHECK(a.label == b.label);
    CHECK(a.device == b.device);
    CHECK(a.plan_hash == b.plan_hash);
    CHECK(a.replays == b.replays);
    REQUIRE(a.commands.size() == b.commands.size());
    for (std::size_t c = 0; c < a.commands.size(); ++c) {
      CHECK(a.commands[c].command == b.commands[c].command);
      CHECK(a.commands[c].label == b.commands[c].label);
      CHECK(a.commands[c].name == b.commands[c].name);
      CHECK(a.commands[c].work == b.commands[c].work);
      CHECK(a.commands[c].time.count() == b.commands[c].time.count());
    }
  }
}

TEST_CASE("trace cost profile: the error for a malformed file names the problem") {
  const TraceFolder folder;
  const auto with = [&](const std::string& text) {
    std::ofstream(folder.file(), std::ios::trunc) << text;
    return refused(folder.file(), ErrorCode::InvalidArgument);
  };
  const auto has = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  CHECK(has(with("{"), "save_cost_profile() did not write it"));
  CHECK(has(with("{\"reprise_costs\": 1, \"graphs\": " + std::string(100'000, '[') +
                 std::string(100'000, ']') + '}'),
            "save_cost_profile() did not write it"));
  CHECK(has(with("{\"reprise_costs\": 2, \"graphs\": []}"), "version is 2"));
  CHECK(has(with("{\"reprise_costs\": 1}"), "malformed"));
  CHECK(has(with("{\"reprise_costs\": 1, \"graphs\": [{\"label\": \"a\", \"device\": \"d\", "
                 "\"plan\": \"xyz\", \"replays\": 1, \"timed_by\": \"timestamps\", "
                 "\"commands\": []}]}"),
            "a plan \"xyz\""));
  CHECK(has(with("{\"reprise_costs\": 1, \"graphs\": [{\"label\": \"a\", \"device\": \"d\", "
                 "\"plan\": \"0\", \"replays\": 1, \"timed_by\": \"timestamps\", "
                 "\"commands\": [{\"command\": 0, \"label\": \"\", \"name\": \"k\", \"work\": 1, "
                 "\"us\": -1}]}]}"),
            "takes -1"));
  for (const std::string number : {"-1", "1e10", "1.5", "4294967296", "null"}) {
    CAPTURE(number);
    CHECK(has(with("{\"reprise_costs\": 1, \"graphs\": [{\"label\": \"a\", \"device\": \"d\", "
                   "\"plan\": \"0\", \"replays\": 1, \"timed_by\": \"timestamps\", "
                   "\"commands\": [{\"command\": " +
                   number + ", \"label\": \"\", \"name\": \"k\", \"work\": 1, \"us\": 1}]}]}"),
              "must be an integer from 0 to 4294967295"));
  }
}

TEST_CASE("trace cost profile: the file of the costs is no more public than the trace") {
  const TraceFolder folder;
  write(folder.file(), {step()}, {block(1, SampleSource::Cupti, {{1, 1'000, 500}})});
  const std::string output = folder.file() + ".json";
  save_cost_profile(*load_cost_profile(folder.file()), output);
  CHECK((std::filesystem::status(output).permissions() & std::filesystem::perms::mask) ==
        (std::filesystem::perms::owner_read | std::filesystem::perms::owner_write));
}
