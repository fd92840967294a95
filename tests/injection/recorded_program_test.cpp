// Recordings from a GPU, replayed without one: exact counts.
#include "injection/recorded_program.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "injection/traced.hpp"
#include "support/paths.hpp"

namespace reprise::test {
namespace {

using detail::ObservedProgram;

// One version of a graph: nodes, edges, replays, node runs in all replays.
using Version = std::array<std::size_t, 4>;
// The versions of each graph, by its label without number, in order of instantiation.
using Graphs = std::map<std::string, std::vector<std::vector<Version>>>;

std::vector<trace::Record> play(const char* name, ObservedProgram::Nodes nodes) {
  std::ifstream file(test_file(std::string("injection/recorded/") + name));
  REQUIRE(file.is_open());
  RecordedProgram program(nodes);
  program.play(file);
  CHECK(program.error().empty());
  return program.records();
}

Graphs graphs_of(const std::vector<trace::Record>& records) {
  std::map<std::uint32_t, std::pair<std::string, std::map<std::uint32_t, Version>>> by_number;
  for (const auto& version : all<trace::GraphVersion>(records)) {
    by_number[version.graph].first = version.label.substr(0, version.label.rfind(" #"));
    by_number[version.graph].second[version.version] = {version.nodes.size(), version.edges.size(),
                                                        0, 0};
  }
  for (const auto& replay : all<trace::Replay>(records))
    ++by_number.at(replay.graph).second.at(replay.version)[2];
  for (const auto& block : all<trace::SampleBlock>(records))
    by_number.at(block.graph).second.at(block.version)[3] += block.samples.size();
  Graphs graphs;
  for (const auto& [number, graph] : by_number) {
    auto& versions = graphs[graph.first].emplace_back();
    for (const auto& [version, counts] : graph.second) versions.push_back(counts);
  }
  return graphs;
}

std::string text_of(const Graphs& graphs) {
  std::ostringstream text;
  for (const auto& [name, of] : graphs) {
    text << name << ":";
    for (const auto& versions : of) {
      text << " [";
      for (const Version& one : versions)
        text << "(" << one[0] << " " << one[1] << " " << one[2] << " " << one[3] << ")";
      text << "]";
    }
    text << "\n";
  }
  return text.str();
}

void check_graphs(const std::vector<trace::Record>& records, const Graphs& expected) {
  CHECK(text_of(graphs_of(records)) == text_of(expected));
}

Graphs without_runs(Graphs graphs) {
  for (auto& [name, of] : graphs) {
    for (auto& versions : of) {
      for (Version& one : versions) one[3] = 0;
    }
  }
  return graphs;
}

}  // namespace

// The graphs of kinds.cu with three launches per thread.
const Graphs kKinds = {
    {"captured", {{{3, 2, 20, 60}}}},  // with new parameters of all nodes once
    {"explicit", {{{6, 5, 10, 29}}}},  // also with new ones of some, and with a disabled node
    {"children", {{{6, 5, 4, 24}}}},
    {"grandchildren", {{{6, 5, 4, 24}}}},
    {"clone", {{{3, 2, 2, 6}}}},
    {"allocating", {{{3, 2, 2, 2}}}},
    {"looping", {{{3, 2, 2, 20}}}},
    {"again", {{{3, 2, 1, 3}}, {{3, 2, 1, 3}}, {{3, 2, 1, 3}}}},
    {"thread", {{{3, 2, 3, 9}}, {{3, 2, 3, 9}}, {{3, 2, 3, 9}}, {{3, 2, 3, 9}}}},
};

TEST_CASE("recorded program: graphs of every kind, each version, replay and node run") {
  const auto records = play("kinds.calls", ObservedProgram::Nodes::Recorded);
  check_graphs(records, kKinds);
  CHECK(all<trace::Loss>(records).empty());
  // Runs in bodies have no launch and are assigned by time. The calls are replayed faster than they
  // were recorded, so all these runs belong to the first replay.
  std::vector<std::uint64_t> without_times;
  for (const auto& replay : all<trace::Replay>(records)) {
    if (replay.started >= replay.ended) without_times.push_back(replay.replay);
  }
  CHECK(without_times == std::vector<std::uint64_t>{2});
}

TEST_CASE("recorded program: without node records everything else is unchanged") {
  const auto records = play("kinds.calls", ObservedProgram::Nodes::Unrecorded);
  check_graphs(records, without_runs(kKinds));
  CHECK(all<trace::Loss>(records).empty());
}

TEST_CASE(
    "recorded program: a program's ranges become labels of its nodes, and its memory is known") {
  const auto records = play("kinds.calls", ObservedProgram::Nodes::Unrecorded);
  const trace::GraphVersion version = all<trace::GraphVersion>(records).at(0);
  const auto node = [&](std::size_t i) {
    std::string text = version.strings[version.nodes[i].name];
    for (std::uint32_t label = version.nodes[i].label; label != 0;
         label = version.labels[label].parent)
      text += " < " + version.strings[version.labels[label].name];
    return text;
  };
  CHECK(node(0) == "add < forward");
  CHECK(node(1) == "scale<float> < layer < forward");
  CHECK(node(2) == "fill");
  std::string pools;
  for (const auto& pool : all<trace::PoolState>(records))
    pools += pool.label + " " + std::to_string(pool.buffers) + "\n";
  CHECK(pools == "cudaMalloc 2\ncudaHostAlloc 1\ncudaMallocAsync 0\ngraph memory 1\n");
  CHECK(std::all_of(version.accesses.begin(), version.accesses.end(),
                    [](const trace::NodeAccess& one) { return one.buffer == 0; }));
  CHECK(version.accesses.size() == 3);
}

TEST_CASE(
    "recorded program: a PyTorch network is one graph with its layers as labels, and every replay "
    "has all its nodes") {
  const auto records = play("mlp.calls", ObservedProgram::Nodes::Recorded);
  check_graphs(records,
               {{"cutlass_80_simt_sgemm_64x64_8x5_tn_align1 and 8 others", {{{9, 8, 6, 54}}}}});
  const trace::GraphVersion version = all<trace::GraphVersion>(records).at(0);
  for (std::size_t i = 0; i < 9; ++i)
    CHECK(version.strings[version.labels[version.nodes[i].label].name] ==
          "layer " + std::to_string(i / 3));
}

TEST_CASE(
    "recorded program: an unreadable line or a missing end is an error that contains the line") {
  for (const char* text :
       {"", "1 context\n", "0 end\n1 context\n", "1 launch 1\n0 end\n",
        "1 launch one 2 plain\n0 end\n", "1 sing\n0 end\n", "0 context\n0 end\n",
        "1 graph 1\n1 edge 0 1\n0 end\n", "1 alloc moon ff 1\n0 end\n", "1 context 2\n0 end\n"}) {
    std::istringstream recording(text);
    RecordedProgram program(ObservedProgram::Nodes::Recorded);
    CHECK_THROWS_WITH_AS(program.play(recording), doctest::Contains("recording"),
                         std::runtime_error);
  }
}

}  // namespace reprise::test
