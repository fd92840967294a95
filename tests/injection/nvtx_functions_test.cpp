// The ranges of a program: labels of nodes, and calls of NCCL.
#include <doctest/doctest.h>

#include <iterator>

#include "injection/callback_data.hpp"
#include "injection/played_program.hpp"
#include "injection/played_ranges.hpp"
#include "trace/record_names.hpp"

namespace reprise::test {

TEST_CASE(
    "program callbacks: ranges that were open during the capture of a node become its labels") {
  PlayedProgram program;
  HandMadeKernel kernel{"_Z1kv"};
  HandMadeGraph graph;
  graph.nodes.push_back(kernel_node(kernel, 0));
  graph.nodes.push_back(kernel_node(kernel, 1));
  const PlayedRanges ranges;
  CHECK(ranges.is_installed);
  const nvtxDomainHandle_t domain = ranges.make_domain();
  ranges.push("model");
  nvtxEventAttributes_t attributes = {};
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = "layer";
  ranges.push(domain, attributes);
  program.make_node(graph, graph.nodes[0]);
  ranges.pop(domain);
  ranges.pop();
  program.make_node(graph, graph.nodes[1]);
  program.instantiate(graph);
  const trace::GraphVersion version = program.only_version();
  CHECK(label_of(version, 0) == "layer");
  CHECK(version.strings[version.labels[version.labels[version.nodes[0].label].parent].name] ==
        "model");
  CHECK(version.nodes[1].label == 0);
}

TEST_CASE("program callbacks: the nodes of a loop of XLA have the ranges of the loop once") {
  PlayedProgram program;
  HandMadeKernel kernel{"loop_add_fusion_1"};
  HandMadeGraph body, graph;
  body.nodes.push_back(kernel_node(kernel, 0));
  HandMadeNode condition;
  condition.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
  graph.nodes.push_back(condition);
  const PlayedRanges ranges;
  ranges.push("XlaModule:#hlo_module=jit_loop,program_id=28455#");
  ranges.push("Thunk:#hlo_op=while.5,unique_hlo_op_id=25769803778#");
  program.make_node(graph, graph.nodes[0]);
  program.make_body(graph.nodes[0], body);
  ranges.push(
      "Thunk:#name=jit(loop)/while/body/add,hlo_op=loop_add_fusion.1,unique_hlo_op_id=1717#");
  program.make_node(body, body.nodes[0]);
  ranges.pop();
  program.instantiate(graph);
  ranges.pop();
  ranges.pop();
  const trace::GraphVersion version = program.only_version();
  CHECK(version.label == "jit_loop");
  REQUIRE(version.nodes.size() == 2);
  CHECK(trace::label_path(version, version.nodes[0].label) == "jit_loop / while.5");
  CHECK(trace::label_path(version, version.nodes[1].label) ==
        "jit_loop / while.5 / body 0 / loop_add_fusion.1");
}

TEST_CASE("program callbacks: calls of NCCL describe the collectives that they capture") {
  PlayedProgram program;
  HandMadeKernel kernel{"ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096>)"};
  HandMadeGraph graph;
  for (std::uint64_t i = 0; i < 2; ++i) graph.nodes.push_back(kernel_node(kernel, i));
  static detail::ObservedProgram* observed = nullptr;
  observed = &program.program;
  const PlayedRanges ranges(
      [](const detail::NcclCommunicator& created) { observed->communicator_created(created); });
  const nvtxDomainHandle_t domain = ranges.make_domain();
  const std::uint64_t exchange[] = {0xc0ffee, 4096}, created[] = {0xc0ffee, 2 | 1ull << 32, 0};
  detail::NvtxPayload payload{(1 << 24) + 16, sizeof(exchange), exchange};
  nvtxEventAttributes_t attributes = {};
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  const auto push = [&](const char* name) {
    attributes.message.ascii = name;
    ranges.push(domain, attributes);
  };
  push("ncclCommInitRankConfig");
  const detail::NvtxPayload communicator{(1 << 24) + 11, sizeof(created), created};
  detail::end_range(detail::number_of(domain), {&communicator, 1});  // nvtxRangePopPayload()

  push("ncclAlltoAll");  // without payload
  program.make_node(graph, graph.nodes[0]);
  ranges.pop(domain);
  attributes.payloadType = static_cast<std::int32_t>(0xDFBD0009);
  attributes.payload.ullValue = reinterpret_cast<std::uintptr_t>(&payload);
  attributes.reserved0 = 1;
  push("ncclAlltoAll");
  program.make_node(graph, graph.nodes[1]);
  ranges.pop(domain);
  program.instantiate(graph);

  const trace::GraphVersion version = program.only_version();
  CHECK(version.label == "ncclAlltoAll");
  CHECK(label_of(version, 1) == "ncclAlltoAll");
  REQUIRE(version.collectives.size() == 2);
  CHECK(version.collectives[0].kind == trace::CollectiveKind::AllToAll);
  CHECK(version.collectives[0].communicator == 0);
  const trace::Collective& exchanged = version.collectives[1];
  CHECK(exchanged.kind == trace::CollectiveKind::AllToAll);
  CHECK(exchanged.communicator == 0xc0ffee);
  CHECK(exchanged.bytes == 4096);
  CHECK(exchanged.ranks == 2);
  CHECK(exchanged.rank == 1);
}

TEST_CASE("program callbacks: range names may be wide, registered, in attributes or absent") {
  PlayedProgram program;
  HandMadeKernel kernel{"_Z1kv"};
  HandMadeGraph graph;
  for (std::uint64_t i = 0; i < 5; ++i) graph.nodes.push_back(kernel_node(kernel, i));
  const PlayedRanges ranges;
  const auto in_range = [&](std::size_t node, const nvtxEventAttributes_t& attributes) {
    ranges.push(attributes);
    program.make_node(graph, graph.nodes[node]);
    ranges.pop();
  };
  ranges.push(L"Schicht \u00e4\u20ac\U0001f600");
  program.make_node(graph, graph.nodes[0]);
  ranges.pop();
  nvtxEventAttributes_t attributes = {};
  attributes.messageType = NVTX_MESSAGE_TYPE_UNICODE;
  attributes.message.unicode = L"wide";
  in_range(1, attributes);
  const nvtxStringHandle_t narrow = ranges.keep("kept"), wide = ranges.keep(L"kept \u03b1");
  attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  attributes.message.registered = narrow;
  in_range(2, attributes);
  attributes.message.registered = wide;
  in_range(3, attributes);
  in_range(4, {});
  program.instantiate(graph);
  const trace::GraphVersion version = program.only_version();
  const char* const names[] = {"Schicht \xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", "wide", "kept",
                               "kept \xce\xb1", "range"};
  for (std::size_t i = 0; i < std::size(names); ++i) CHECK(label_of(version, i) == names[i]);
}

}  // namespace reprise::test
