// The nodes that a grid of a core dump can be, and the report of a dump.
#include "faults/fault_report.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "faults/candidates.hpp"
#include "viewer/artificial_dump.hpp"

namespace reprise::test {
namespace {

using faults::Candidate;
using faults::TraceFacts;

// A chain of `count` launches of gather() with the grid of artificial_dump(); node n reads the
// address 0x1000 * n of buffer 0, which starts at 0x100000.
trace::GraphVersion chain(std::uint32_t graph, std::uint32_t count) {
  trace::GraphVersion version;
  version.graph = graph;
  version.version = 1;
  version.label = "step";
  version.strings = {"", "gather", "gather(float*)", "layer", "train.py"};
  version.labels = {{}, {0, 3, 0}};
  version.kernels = {{1, 2, 32, 0}};
  version.buffers.push_back({0, trace::BufferKind::Device, 0, 0, 1 << 20, 0});
  for (std::uint32_t n = 0; n < count; ++n) {
    trace::Node node;
    node.kind = trace::NodeKind::Dispatch;
    node.name = 1;
    node.label = 1;
    node.kernel = 0;
    node.command = n;
    node.file = 4;
    node.line = 10 + n;
    node.grid[0] = 256, node.grid[1] = node.grid[2] = 1;
    node.block[0] = 128, node.block[1] = node.block[2] = 1;
    node.first_access = n;
    node.access_count = 1;
    version.nodes.push_back(node);
    trace::NodeAccess access;
    access.inferred = 1;
    access.begin = 0x1000 * n;
    version.accesses.push_back(access);
    if (n != 0) version.edges.push_back({.from = n - 1, .to = n});
  }
  return version;
}

trace::Replay replay(std::uint32_t graph, std::uint64_t number, trace::Time at) {
  trace::Replay one;
  one.graph = graph;
  one.version = 1;
  one.replay = number;
  one.launched = at;
  one.launch_returned = at + 1;
  return one;
}

TraceFacts facts_of(trace::Records records) {
  trace::BufferLifetime buffer;
  buffer.address = 0x100000;
  records.buffer_lifetimes.push_back(buffer);
  TraceFacts facts;
  facts.add(std::move(records));
  facts.finish();
  return facts;
}

faults::CoreDump dump_with(const ArtificialFault& fault) {
  return faults::read_core_dump(artificial_dump(fault), "dump");
}

faults::Candidates candidates_of(const ArtificialFault& fault, const TraceFacts& facts) {
  return faults::find_candidates(dump_with(fault).grids.at(0), facts);
}

}  // namespace

TEST_CASE("fault: parameters select one of many nodes with the same kernel") {
  trace::Records records;
  records.graph_versions = {chain(0, 20)};
  records.replays = {replay(0, 1, 10)};
  const auto found = candidates_of({.parameters = {5, 0x106000, 7}}, facts_of(records));
  REQUIRE(found.nodes.size() == 1);
  CHECK(found.nodes[0].node == 6);
  CHECK(found.nodes[0].parameters == Candidate::Parameters::Equal);
  CHECK(found.excluded == 19);
}

TEST_CASE("fault: without parameters every node with the kernel is a candidate, in order") {
  trace::Records records;
  records.graph_versions = {chain(0, 3)};
  records.graph_versions[0].nodes[1].grid[0] = 255;
  records.replays = {replay(0, 1, 10)};
  const auto found = candidates_of({}, facts_of(records));
  REQUIRE(found.nodes.size() == 2);
  CHECK(found.nodes[0].node == 0);
  CHECK(found.nodes[1].node == 2);
  CHECK(found.excluded == 0);
}

TEST_CASE("fault: graphs whose replays had ended come last") {
  trace::Records records;
  records.graph_versions = {chain(0, 1), chain(1, 1), chain(2, 1)};
  records.replays = {replay(0, 1, 10), replay(1, 1, 20), replay(2, 1, 30), replay(1, 2, 40),
                     replay(1, 3, 50)};
  records.host_ranges = {{0, 0, 35, 36, faults::kWaitForAll, trace::kNone, 0}};
  const auto found = candidates_of({}, facts_of(records));
  REQUIRE(found.nodes.size() == 3);
  CHECK(found.nodes[0].graph == 1);
  CHECK(found.nodes[0].first_replay == 2);
  CHECK(found.nodes[0].last_replay == 3);
  CHECK(found.nodes[1].last_replay == 0);
  CHECK(found.nodes[2].last_replay == 0);
}

TEST_CASE("fault: with several devices, a wait for one of them ends no replay") {
  trace::Records records;
  records.graph_versions = {chain(0, 1)};
  records.replays = {replay(0, 1, 10)};
  records.host_ranges = {{0, 0, 35, 36, faults::kWaitForAll, trace::kNone, 0}};
  records.queues.resize(2);
  records.queues[1].device = 1;
  CHECK(facts_of(records).replays.at(0).size() == 1);
  records.queues[1].device = 0;
  CHECK(facts_of(records).replays.at(0).empty());
}

TEST_CASE("fault: a wait for a queue ends the replays that were launched on it before") {
  trace::Records records;
  records.graph_versions = {chain(0, 1)};
  records.replays = {replay(0, 1, 10), replay(0, 2, 20), replay(0, 3, 30)};
  records.replays[0].queue = 1;
  records.host_ranges = {{0, 0, 25, 26, "cuStreamSynchronize", 0, 2}};
  const TraceFacts facts = facts_of(records);
  REQUIRE(facts.replays.at(0).size() == 2);
  CHECK(facts.replays.at(0)[0].replay == 1);
  CHECK(facts.replays.at(0)[1].replay == 3);
}

TEST_CASE("fault: the report names kernel, block, thread, node, graph and replay") {
  trace::Records records;
  records.graph_versions = {chain(3, 20)};
  records.replays = {replay(3, 2, 10)};
  const faults::FaultReport report =
      faults::report_dump(dump_with({.parameters = {0x106000}}), facts_of(records));
  CHECK(report.lines ==
        std::vector<std::string>{
            "fault: illegal address in gather at folder/gather.py:6, block (3, 0, 0), thread (9, "
            "0, 0)",
            "  grid 256 x 1 x 1, block 128 x 1 x 1, device 1",
            "  node 6 gather [layer] at train.py:16 of graph 3 \"step\", replay 2, same parameters",
            "  19 nodes with the same kernel and other parameters excluded"});
  REQUIRE(report.messages.size() == 1);
  CHECK(report.messages[0].id == faults::kFaultMessage);
  CHECK(report.messages[0].severity == trace::Severity::Error);
  CHECK(report.messages[0].graph == 3);
  CHECK(report.messages[0].version == 1);
  CHECK(report.messages[0].command == 6);
}

TEST_CASE("fault: several candidates are all in the report, the first as the error") {
  trace::Records records;
  records.graph_versions = {chain(0, 12)};
  records.replays = {replay(0, 2, 10), replay(0, 3, 20)};
  const faults::FaultReport report = faults::report_dump(dump_with({}), facts_of(records));
  REQUIRE(report.lines.size() == 11);
  CHECK(report.lines[3] ==
        "  or node 1 gather [layer] at train.py:11 of graph 0 \"step\", one of the replays 2 to 3, "
        "which were all launched");
  CHECK(report.lines[10] == "  or one of 4 further nodes");
  REQUIRE(report.messages.size() == 8);
  CHECK(report.messages[0].severity == trace::Severity::Error);
  CHECK(report.messages[1].severity == trace::Severity::Warning);
}

TEST_CASE("fault: a kernel in no graph ran outside them") {
  trace::Records records;
  records.graph_versions = {chain(0, 1)};
  records.graph_versions[0].nodes[0].grid[0] = 255;
  const faults::FaultReport report = faults::report_dump(dump_with({}), facts_of(records));
  REQUIRE(report.lines.size() == 3);
  CHECK(report.lines[2] ==
        "  no node of the recorded graphs has this kernel, grid and block: it ran outside them");
  REQUIRE(report.messages.size() == 1);
  CHECK(report.messages[0].graph == trace::kNone);
}

TEST_CASE("fault: a dump without its grid finds the nodes by the kernel") {
  trace::Records records;
  records.graph_versions = {chain(0, 1)};
  records.replays = {replay(0, 1, 10)};
  const faults::FaultReport report =
      faults::report_dump(dump_with({.has_threads = false, .has_grid = false}), facts_of(records));
  REQUIRE(report.lines.size() == 2);
  CHECK(report.lines[0] == "fault: illegal address in gather at folder/gather.py:6");
  CHECK(report.lines[1] == "  node 0 gather [layer] at train.py:10 of graph 0 \"step\", replay 1");
}

TEST_CASE("fault: without recorded graphs the node is unknown") {
  const faults::FaultReport report = faults::report_dump(dump_with({}), {});
  CHECK(report.lines.back() == "  no graph was recorded, so its node is unknown");
}

TEST_CASE("hang: the report names the running node and those that wait for it") {
  trace::Records records;
  records.graph_versions = {chain(0, 4)};
  records.replays = {replay(0, 5, 10)};
  const faults::FaultReport report =
      faults::report_dump(dump_with({.exception = 0, .parameters = {0x101000}}), facts_of(records));
  CHECK(report.lines ==
        std::vector<std::string>{
            "hang: gather runs: 1 block on the GPU, one is (3, 0, 0)",
            "  grid 256 x 1 x 1, block 128 x 1 x 1, device 1",
            "  node 1 gather [layer] at train.py:11 of graph 0 \"step\", replay 5, same parameters",
            "  3 nodes with the same kernel and other parameters excluded",
            "  waiting for it: 2 nodes: 2 gather, 3 gather"});
  REQUIRE_FALSE(report.messages.empty());
  CHECK(report.messages[0].id == faults::kHangMessage);
}

}  // namespace reprise::test
