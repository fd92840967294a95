// ObservedProgram: executables and replays, with artificial calls.
#include <doctest/doctest.h>

#include <algorithm>

#include "injection/chains.hpp"
#include "injection/describe_observed_graph.hpp"
#include "trace/record_names.hpp"

namespace reprise::test {

TEST_CASE(
    "observed program: an executable is a graph of the trace with short and full names, and each "
    "launch is a replay") {
  ObservedProgram program;
  program.name_queue(kStream, 0, "stream 7");
  instantiate(program, chain(3));
  launch(program, 1);
  launch(program, 2);
  const auto records = collected(program);
  const auto versions = all<trace::GraphVersion>(records);
  REQUIRE(versions.size() == 1);
  const trace::GraphVersion& version = versions[0];
  CHECK(version.nodes.size() == 3);
  CHECK(version.edges.size() == 2);
  CHECK(version.instantiate_time == 50);
  REQUIRE(version.kernels.size() == 1);
  CHECK(version.strings[version.kernels[0].name] == "add");
  CHECK(version.strings[version.kernels[0].full_name] == "add(float*)");
  CHECK(version.kernels[0].registers == 16);
  const auto replays = all<trace::Replay>(records);
  REQUIRE(replays.size() == 2);
  CHECK(replays[1].replay == 2);
  CHECK(replays[1].thread == 7);
  CHECK(replays[1].launched == 200);
  CHECK(replays[1].launch_returned == 205);
  CHECK(replays[1].started == 0);
  CHECK(all<trace::Queue>(records).at(0).label == "stream 7");
}

TEST_CASE(
    "observed program: a recorded replay has the time of every node in any order of arrival, and "
    "its own start and end") {
  ObservedProgram program;
  instantiate(program, chain(3));
  launch(program, 5, ObservedProgram::Nodes::Recorded);
  program.ran({run_of(2, 5, 1030), run_of(0, 5, 1000)}, 10);
  CHECK(all<trace::Replay>(collected(program)).empty());  // one run is outstanding
  program.ran({run_of(1, 5, 1015)}, 11);
  const auto records = collected(program);
  const auto blocks = all<trace::SampleBlock>(records);
  REQUIRE(blocks.size() == 1);
  REQUIRE(blocks[0].samples.size() == 3);
  CHECK(blocks[0].source == trace::SampleSource::Cupti);
  for (std::uint32_t i = 0; i < 3; ++i) CHECK(blocks[0].samples[i].node == i);
  const auto replays = all<trace::Replay>(records);
  REQUIRE(replays.size() == 1);
  CHECK(replays[0].started == 1000);
  CHECK(replays[0].ended == 1040);
  CHECK(replays[0].sampled == 1);
}

TEST_CASE("observed program: runs that arrive before their launch returned are assigned to it") {
  ObservedProgram program;
  instantiate(program, chain(1));
  program.ran({run_of(0, 9, 1000)}, 10);
  launch(program, 9, ObservedProgram::Nodes::Recorded);
  CHECK(all<trace::SampleBlock>(collected(program)).size() == 1);
}

TEST_CASE(
    "observed program: runs in bodies have no launch, are assigned by time, and are numbered per "
    "node") {
  ObservedProgram program;
  ObservedGraph graph = chain(2);
  graph.nodes[1].recorded = ObservedNode::Recorded::Sometimes;  // in a body
  instantiate(program, std::move(graph));
  launch(program, 1, ObservedProgram::Nodes::Recorded);
  launch(program, 2, ObservedProgram::Nodes::Recorded);
  program.ran({run_of(0, 1, 1000), run_of(1, 0, 1100), run_of(1, 0, 1200), run_of(0, 2, 2000),
               run_of(1, 0, 2100)},
              10);
  CHECK(all<trace::SampleBlock>(collected(program, Outstanding::Expected, 11))
            .empty());  // the number of runs is unknown
  const auto blocks = all<trace::SampleBlock>(collected(program, Outstanding::Complete, 12));
  REQUIRE(blocks.size() == 2);
  REQUIRE(blocks[0].samples.size() == 3);
  CHECK(blocks[0].samples[1].occurrence == 0);
  CHECK(blocks[0].samples[2].occurrence == 1);
  CHECK(blocks[1].samples.size() == 2);
}

TEST_CASE(
    "observed program: steady replays of a graph that consists of a conditional are reported while "
    "they go on") {
  ObservedProgram program;
  ObservedGraph graph = chain(2);
  graph.nodes[0].kind = trace::NodeKind::Conditional;
  graph.nodes[0].kernel = trace::kNone;
  graph.nodes[0].recorded = ObservedNode::Recorded::Never;
  graph.nodes[1].recorded = ObservedNode::Recorded::Sometimes;  // in the body
  instantiate(program, graph);
  constexpr int kReplays = 5'000, kRuns = 3;
  constexpr trace::Time kPeriod = 1'000'000;
  std::vector<trace::Record> records;
  for (int replay = 0; replay < kReplays; ++replay) {
    const trace::Time now = 1'000'000'000 + replay * kPeriod;
    static_cast<void>(program.launched({.exec = kExec,
                                        .stream = kStream,
                                        .thread = 7,
                                        .started = now,
                                        .returned = now + 10,
                                        .correlation = static_cast<std::uint32_t>(replay + 1)},
                                       ObservedProgram::Nodes::Recorded));
    for (int run = kRuns - 1; run >= 0; --run)
      program.ran({run_of(1, 0, now + 1000 + 100 * run)}, now + 5000);
    if (replay % 50 == 0) program.collect(now, Outstanding::Expected, records);
  }
  // At most the replays of the last half second are outstanding.
  CHECK(all<trace::Replay>(records).size() > kReplays - 600);
  program.collect(1'000'000'000 + kReplays * kPeriod, Outstanding::Complete, records);
  CHECK(all<trace::Replay>(records).size() == kReplays);
  const auto blocks = all<trace::SampleBlock>(records);
  REQUIRE(blocks.size() == kReplays);
  CHECK(std::all_of(blocks.begin(), blocks.end(),
                    [](const trace::SampleBlock& block) { return block.samples.size() == kRuns; }));
}

TEST_CASE("observed program: a run whose kernel differs from its node's is ignored") {
  ObservedProgram program;
  instantiate(program, chain(1));
  launch(program, 1, ObservedProgram::Nodes::Recorded);
  detail::ObservedRun run = run_of(0, 1, 1000);
  run.kernel = "_Z5otherv";
  program.ran({run}, 10);
  const auto records = collected(program);
  CHECK(all<trace::Replay>(records).size() == 1);
  CHECK(all<trace::SampleBlock>(records).empty());
}

TEST_CASE(
    "observed program: after lost records the rest is emitted once a later replay has arrived") {
  ObservedProgram program;
  instantiate(program, chain(2));
  launch(program, 1, ObservedProgram::Nodes::Recorded);
  launch(program, 2, ObservedProgram::Nodes::Recorded);
  program.ran({run_of(0, 1, 1000), run_of(0, 2, 2000), run_of(1, 2, 2020)}, 10);
  CHECK(all<trace::Replay>(collected(program, Outstanding::Expected, 20)).empty());
  const auto replays =
      all<trace::Replay>(collected(program, Outstanding::Expected, 10 + 600'000'000));
  REQUIRE(replays.size() == 2);
  CHECK(replays[0].ended == 1010);
  CHECK(replays[1].ended == 2030);
}

TEST_CASE("observed program: lost times are omitted and counted") {
  ObservedProgram program;
  instantiate(program, chain(1));
  launch(program, 1, ObservedProgram::Nodes::Recorded);
  detail::ObservedRun run = run_of(0, 1, 1000);
  run.started = run.ended = 0;
  program.ran({run}, 10);
  const auto records = collected(program);
  const auto replays = all<trace::Replay>(records);
  REQUIRE(replays.size() == 1);
  CHECK(replays[0].started == 0);
  const auto losses = all<trace::Loss>(records);
  REQUIRE(losses.size() == 1);
  CHECK(losses[0].kind == trace::LossKind::ZeroTimestamps);
}

TEST_CASE("observed program: calls of one operator are labels with numbers") {
  ObservedProgram program;
  ObservedGraph graph = chain(4);
  const char* const calls[] = {"aten::linear, op_id = 5", "aten::linear, op_id = 9",
                               "aten::linear, op_id = 5", "aten::linear, op_id = 9"};
  for (std::size_t i = 0; i < 4; ++i)
    graph.nodes[i].origin.scope = std::make_shared<const detail::ScopePath>(
        detail::ScopePath{"model", calls[i], "aten::addmm, op_id = 1" + std::to_string(i)});
  instantiate(program, std::move(graph));
  const trace::GraphVersion version = all<trace::GraphVersion>(collected(program)).at(0);
  CHECK(version.label == "model");
  std::string paths;
  for (const trace::Node& node : version.nodes)
    paths += trace::label_path(version, node.label) + "\n";
  CHECK(paths ==
        "model / aten::linear / aten::addmm\n"
        "model / aten::linear #2 / aten::addmm\n"
        "model / aten::linear / aten::addmm #2\n"
        "model / aten::linear #2 / aten::addmm #2\n");
}

TEST_CASE("observed program: a graph has the name of the range that created it, and a number") {
  ObservedProgram program;
  for (std::uint64_t i = 0; i < 3; ++i)
    program.instantiated({.exec = kExec + i, .scope = i == 1 ? "step 2" : "step"}, chain(1));
  std::string labels;
  for (const auto& version : all<trace::GraphVersion>(collected(program)))
    labels += version.label + "\n";
  CHECK(labels == "step\nstep 2\nstep #2\n");
}

TEST_CASE("graph label: the common outermost label of the nodes, otherwise the telling kernel") {
  const auto label = [](const char* outer, const char* inner) {
    return std::make_shared<const detail::ScopePath>(detail::ScopePath{outer, inner});
  };
  ObservedGraph graph = chain(4);
  CHECK(detail::graph_label(graph) == "add and 3 others");
  CHECK(detail::graph_label(chain(2)) == "add and 1 other");
  CHECK(detail::graph_label(chain(1)) == "add");
  CHECK(detail::graph_label({}) == "empty graph");
  // The most frequent of the kernels that say most.
  graph.kernels.push_back({"triton_poi_fused_add_gelu_0", 16, 0});
  graph.kernels.push_back({"nvjet_sm90_hsh_64x64_64x13_2x1_v_bz_bias_TNT", 16, 0});
  graph.kernels.push_back({"ampere_sgemm_128x64_tn", 16, 0});
  graph.nodes[0].kernel = 1;
  CHECK(detail::graph_label(graph) == "add and 3 others");
  graph.nodes[1].kernel = 2;
  graph.nodes[2].kernel = graph.nodes[3].kernel = 3;
  CHECK(detail::graph_label(graph) == "ampere_sgemm_128x64_tn and 3 others");
  graph.nodes[1].origin.scope = label("model", "layer 1");
  graph.nodes[2].origin.scope = label("model", "layer 2");
  CHECK(detail::graph_label(graph) == "model");
  graph.nodes[3].origin.scope = label("loss", "sum");
  CHECK(detail::graph_label(graph) == "ampere_sgemm_128x64_tn and 3 others");
  ObservedGraph copies;
  copies.nodes.resize(2);
  copies.nodes[0].name = "copy device to device";
  copies.nodes[0].origin.scope = label("child graph 1", "copies");
  CHECK(detail::graph_label(copies) == "copy device to device and 1 other");
}

TEST_CASE("observed program: memory that is freed before a graph is described is known to it") {
  ObservedProgram program;
  program.allocated({0x10000, 256, detail::ProgramMemory::Source::Device, 0}, 50);
  ObservedGraph graph = chain(1);
  graph.nodes[0].accesses = {
      {0x10000, 64, trace::Access::Write, detail::ObservedAccess::Origin::Stated}};
  instantiate(program, std::move(graph));
  program.freed(0x10000, 200);
  CHECK(all<trace::GraphVersion>(collected(program)).at(0).accesses.size() == 1);
}

TEST_CASE(
    "observed program: a reused handle is a new graph, and outstanding runs of the old one still "
    "arrive") {
  ObservedProgram program;
  instantiate(program, chain(1));
  launch(program, 1, ObservedProgram::Nodes::Recorded);
  program.destroyed(kExec, 250);
  instantiate(program, chain(2));
  launch(program, 2);
  program.ran({run_of(0, 1, 1000)}, 10);
  const auto records = collected(program);
  const auto versions = all<trace::GraphVersion>(records);
  REQUIRE(versions.size() == 2);
  CHECK(versions[0].graph != versions[1].graph);
  const auto replays = all<trace::Replay>(records);
  REQUIRE(replays.size() == 2);
  CHECK(replays[0].graph != replays[1].graph);
  CHECK(all<trace::SampleBlock>(records).at(0).graph == versions[0].graph);
  CHECK(all<trace::Update>(records).at(0).description == "destroyed after 1 replay");
  const auto ended = all<trace::Ended>(records);
  REQUIRE(ended.size() == 1);
  CHECK(ended[0].kind == trace::ObjectKind::Graph);
  CHECK(ended[0].id == versions[0].graph);
  // It follows the replay that was outstanding.
  const auto is_old_replay = [&](const trace::Record& record) {
    const auto* replay = std::get_if<trace::Replay>(&record);
    return replay != nullptr && replay->graph == versions[0].graph;
  };
  const auto is_end = [](const trace::Record& r) {
    return std::holds_alternative<trace::Ended>(r);
  };
  CHECK(std::find_if(records.begin(), records.end(), is_old_replay) <
        std::find_if(records.begin(), records.end(), is_end));
}

TEST_CASE(
    "observed program: launches of undescribed graphs and records above the limit are counted") {
  ObservedProgram program({.nodes = 3, .waiting_records = 4});
  instantiate(program, chain(2));
  instantiate(program, chain(2), kOtherExec);  // exceeds the limit, and its launches are counted
  launch(program, 1, ObservedProgram::Nodes::Unrecorded, kOtherExec);
  for (std::uint32_t i = 2; i < 6; ++i) launch(program, i);
  const auto records = collected(program);
  CHECK(all<trace::GraphVersion>(records).size() == 1);
  CHECK(all<trace::Message>(records).at(0).id == "run.graphs");
  CHECK(all<trace::Replay>(records).size() == 3);
  const auto losses = all<trace::Loss>(records);
  REQUIRE(losses.size() == 1);
  CHECK(losses[0].kind == trace::LossKind::Replays);
  CHECK(losses[0].count == 2);
}

TEST_CASE(
    "observed program: scopes become labels of nodes, and parameter words count if they point into "
    "known memory") {
  ObservedProgram program;
  program.allocated({0x10000, 256, detail::ProgramMemory::Source::Device, 0}, 50);
  ObservedGraph graph = chain(1);
  graph.nodes[0].origin.scope =
      std::make_shared<const detail::ScopePath>(detail::ScopePath{"model", "layer 1"});
  graph.nodes[0].accesses = {
      {0x10040, 0, trace::Access::ReadWrite, detail::ObservedAccess::Origin::Guessed},
      {0x99999999, 0, trace::Access::ReadWrite, detail::ObservedAccess::Origin::Guessed},
      {0x10000, 64, trace::Access::Write, detail::ObservedAccess::Origin::Stated}};
  instantiate(program, std::move(graph));
  const auto records = collected(program);
  const trace::GraphVersion version = all<trace::GraphVersion>(records).at(0);
  const trace::Label& inner = version.labels[version.nodes[0].label];
  CHECK(version.strings[inner.name] == "layer 1");
  CHECK(version.strings[version.labels[inner.parent].name] == "model");
  REQUIRE(version.accesses.size() == 2);
  CHECK(version.accesses[0] == trace::NodeAccess{0, trace::Access::ReadWrite, 1, 64, 256});
  CHECK(version.accesses[1] == trace::NodeAccess{0, trace::Access::Write, 0, 0, 64});
  CHECK(version.buffers.at(0).bytes == 256);
}

TEST_CASE(
    "observed program: the first executable of a captured graph bears the cost of the capture, and "
    "uploads count as part of the first launch") {
  ObservedProgram program;
  constexpr std::uint64_t kGraph = 0x6000;
  const auto make = [&](std::uint64_t exec, trace::Time at) {
    program.instantiated({.exec = exec,
                          .graph = kGraph,
                          .profiler_id = kProfilerId,
                          .started = at - 50,
                          .at = at,
                          .used_before = 700},
                         chain(1));
    program.instantiation_ended(exec, 900);
  };
  program.capture_began(kStream, 100, 1'000);
  program.capture_ended(kStream, kGraph, 1'400);
  make(kExec, 2'000);
  make(kOtherExec, 3'000);
  CHECK_FALSE(program.is_launched(kExec));
  program.uploaded(kExec, 30, {1'000, 1'040}, 3'500);
  launch(program, 1);
  CHECK(program.is_launched(kExec));
  program.first_launch_ended(kExec, 5, {5'000, 4'990}, 4'000);
  const auto costs = all<trace::CreationCost>(collected(program));
  REQUIRE(costs.size() == 4);
  CHECK(costs[0] == trace::CreationCost{0, 2'000, 400, 0, 800, trace::kUnknownBytes});
  CHECK(costs[1] == trace::CreationCost{1, 3'000, 0, 0, 200, trace::kUnknownBytes});
  CHECK(costs[2] == trace::CreationCost{0, 3'500, 400, 30, 800, 40});
  // Memory that other graphs take between upload and launch is not counted.
  CHECK(costs[3] == trace::CreationCost{0, 4'000, 400, 35, 800, 30});

  program.capture_began(kStream, 100, 5'000);  // the stream is gone before the capture ends
  program.remove_queue(kStream);
  program.capture_ended(kStream, kGraph, 6'000);
  program.instantiated({.exec = 0xe2, .graph = kGraph, .at = 7'000}, chain(1));
  program.instantiation_ended(0xe2, 900);
  const auto cost = all<trace::CreationCost>(collected(program)).at(0);
  CHECK(cost.capture_time == 0);
  CHECK(cost.capture_bytes == trace::kUnknownBytes);  // the memory before it is unknown
  CHECK(program.is_launched(0xe3));                   // not described
}

TEST_CASE("observed program: kernels of NCCL are collectives") {
  ObservedProgram program;
  ObservedGraph graph = chain(4);
  graph.kernels.push_back({"ncclDevKernel_AllReduce_Sum_f32_RING_LL(args)", 96, 0});
  graph.kernels.push_back({"ncclDevKernel_SendRecv(args)", 96, 0});
  graph.nodes[1].kernel = 1;
  graph.nodes[3].kernel = 2;
  instantiate(program, chain(2));
  instantiate(program, graph, kOtherExec);
  instantiate(program, graph, kOtherExec + 1);
  const auto versions = all<trace::GraphVersion>(collected(program));
  REQUIRE(versions.size() == 3);
  CHECK(versions[0].collectives.empty());
  REQUIRE(versions[1].collectives.size() == 2);
  const trace::Collective& reduce = versions[1].collectives[0];
  const trace::Collective& exchange = versions[1].collectives[1];
  CHECK(reduce.node == 1);
  CHECK(reduce.kind == trace::CollectiveKind::AllReduce);
  CHECK(exchange.node == 3);
  CHECK(exchange.kind == trace::CollectiveKind::Group);
  CHECK(exchange.index == 1);
  CHECK(exchange.communicator == 0);
  CHECK(reduce.number == 1);
  CHECK(exchange.number == 1);
  CHECK(versions[2].collectives[0].number == 2);
}

TEST_CASE("observed program: collectives are numbered by communicator, with its ranks") {
  ObservedProgram program;
  program.communicator_created({.id = 7, .device = 0, .ranks = 8, .rank = 5});
  program.communicator_created({.id = 7, .device = 1, .ranks = 8, .rank = 6});
  using Kind = trace::CollectiveKind;
  const auto launched = [](detail::NcclOperations operations) {
    return std::make_shared<const detail::NcclOperations>(std::move(operations));
  };
  ObservedGraph graph = chain(4);
  graph.kernels.push_back({"ncclDevKernel_AllReduce_Sum_f32_RING_LL(args)", 96, 0});
  graph.kernels.push_back({"ncclDevKernel_SendRecv(args)", 96, 0});
  graph.nodes[0].kernel = graph.nodes[2].kernel = 1;
  graph.nodes[1].kernel = graph.nodes[3].kernel = 2;
  graph.nodes[0].origin.operations = launched({{Kind::AllReduce, 7, 64}});
  graph.nodes[1].origin.operations = launched({{Kind::AllToAll, 9, 32}});
  graph.nodes[2].origin.operations = launched({{Kind::AllReduce, 7, 16}, {Kind::Send, 7, 8, 3}});
  graph.nodes[3].origin.operations = graph.nodes[2].origin.operations;
  ObservedGraph other = graph;
  other.nodes[1].origin = {};
  instantiate(program, graph);
  instantiate(program, other, kOtherExec);
  const auto versions = all<trace::GraphVersion>(collected(program));
  REQUIRE(versions.size() == 2);
  REQUIRE(versions[0].collectives.size() == 4);
  CHECK(versions[0].collectives[0] == trace::Collective{.node = 0,
                                                        .kind = Kind::AllReduce,
                                                        .ranks = 8,
                                                        .rank = 5,
                                                        .communicator = 7,
                                                        .number = 1,
                                                        .bytes = 64});
  const trace::Collective& exchange = versions[0].collectives[1];
  CHECK(exchange.kind == Kind::AllToAll);
  CHECK(exchange.communicator == 9);
  CHECK(exchange.number == 1);
  CHECK(exchange.index == 0);
  // Both execute a part of the same operations.
  for (std::uint32_t i : {2u, 3u}) {
    CHECK(versions[0].collectives[i].kind == Kind::Group);
    CHECK(versions[0].collectives[i].communicator == 7);
    CHECK(versions[0].collectives[i].index == i - 1);
    CHECK(versions[0].collectives[i].bytes == 0);
  }
  CHECK(versions[1].collectives[0].number == 2);
  CHECK(versions[1].collectives[1].communicator == 0);
  CHECK(versions[1].collectives[1].number == 1);
}

}  // namespace reprise::test
