// ProgramCallbacks with simulated callbacks of CUPTI.
#include "injection/program_callbacks.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <string>

#include "injection/callback_data.hpp"
#include "injection/played_program.hpp"

namespace reprise::test {
namespace {

using detail::ObservedExec;
using detail::ObservedProgram;
using detail::ProgramCallbacks;

}  // namespace

TEST_CASE(
    "program callbacks: an instantiated graph is read with kernels, grids, copies, fills and "
    "edges") {
  PlayedProgram program;
  const CUdeviceptr memory = 0x5000000;
  CUdeviceptr made = memory;
  program.call(CUPTI_DRIVER_TRACE_CBID_cuMemAlloc_v2, cuMemAlloc_v2_params{&made, 4096});
  HandMadeKernel kernel{"_Z5scaleIfEvPT_f", {8, 4}};
  CUdeviceptr argument = memory + 256;
  float factor = 2;
  void* parameters[] = {&argument, &factor};
  HandMadeGraph graph;
  graph.nodes.push_back(kernel_node(kernel, 0, parameters));
  HandMadeNode copy;
  copy.type = CU_GRAPH_NODE_TYPE_MEMCPY;
  copy.copy.srcMemoryType = CU_MEMORYTYPE_DEVICE, copy.copy.srcDevice = memory;
  copy.copy.dstMemoryType = CU_MEMORYTYPE_HOST, copy.copy.dstHost = &made;
  copy.copy.WidthInBytes = 64, copy.copy.Height = copy.copy.Depth = 1;
  copy.profiler_id = 1;
  graph.nodes.push_back(copy);
  HandMadeNode fill;
  fill.type = CU_GRAPH_NODE_TYPE_MEMSET;
  fill.fill = {memory, 0, 0, 1, 32, 1};
  fill.profiler_id = 2;
  graph.nodes.push_back(fill);
  graph.edges = {{0, 1}, {0, 2}};
  program.instantiate(graph);

  const auto records = collected(program.program);
  CHECK(all<trace::Device>(records).at(0).name == "a GPU by hand");
  CHECK(all<trace::BufferLifetime>(records).at(0).bytes == 4096);
  const trace::GraphVersion version = all<trace::GraphVersion>(records).at(0);
  REQUIRE(version.nodes.size() == 3);
  CHECK(name_of(version, 0) == "scale<float>");
  CHECK(version.nodes[0].grid[0] == 4);
  CHECK(version.nodes[0].block[0] == 128);
  CHECK(name_of(version, 1) == "copy device to host");
  CHECK(version.nodes[1].bytes == 64);
  CHECK(name_of(version, 2) == "fill");
  CHECK(version.edges.size() == 2);
  REQUIRE(version.accesses.size() == 3);
  CHECK(version.accesses[0] == trace::NodeAccess{0, trace::Access::ReadWrite, 1, 256, 4096});
  CHECK(version.accesses[1] == trace::NodeAccess{0, trace::Access::Read, 0, 0, 64});
  CHECK(version.accesses[2] == trace::NodeAccess{0, trace::Access::Write, 0, 0, 32});
}

TEST_CASE("program callbacks: child graphs and bodies are inlined in CUDA's numbering") {
  PlayedProgram program;
  HandMadeKernel kernel{"_Z1kv"};
  HandMadeGraph inner, child, body, graph;
  inner.nodes.push_back(kernel_node(kernel, 0));
  HandMadeNode nested;
  nested.type = CU_GRAPH_NODE_TYPE_GRAPH, nested.child = &inner;
  child.nodes.push_back(nested);
  child.nodes.push_back(kernel_node(kernel, 1));
  child.edges = {{0, 1}};
  body.nodes.push_back(kernel_node(kernel, 0));
  HandMadeNode opened;
  opened.type = CU_GRAPH_NODE_TYPE_GRAPH, opened.child = &child;
  graph.nodes.push_back(opened);
  HandMadeNode condition;
  condition.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
  condition.profiler_id = 1;
  graph.nodes.push_back(condition);
  graph.edges = {{0, 1}};
  program.make_body(graph.nodes[1], body);
  program.instantiate(graph);
  program.callbacks().record_nodes(ObservedProgram::Nodes::Recorded);
  program.launch({.correlation = 3});

  // Numbers: outermost graph 0 and 1, child graph 2 and 3, graph nested in it 4, body 5.
  const auto run = [](std::uint32_t number, std::uint32_t correlation, trace::Time started) {
    return detail::ObservedRun{(std::uint64_t{kHandMadeExecId} << 32) | number,
                               correlation,
                               1,
                               started,
                               started + 5,
                               "_Z1kv"};
  };
  program.program.ran({run(4, 3, 100), run(3, 3, 110), run(5, 0, 120)}, 10);
  const auto records = collected(program.program, ObservedExec::Outstanding::Complete);
  const trace::GraphVersion version = all<trace::GraphVersion>(records).at(0);
  REQUIRE(version.nodes.size() == 4);
  CHECK(label_of(version, 0) == "child graph 2");
  CHECK(label_of(version, 1) == "child graph 1");
  CHECK(version.nodes[2].kind == trace::NodeKind::Conditional);
  CHECK(label_of(version, 3) == "body 0");
  CHECK(version.edges.size() == 3);
  const auto samples = all<trace::SampleBlock>(records).at(0).samples;
  REQUIRE(samples.size() == 3);
  CHECK(samples[0].node == 0);
  CHECK(samples[1].node == 1);
  CHECK(samples[2].node == 3);
}

TEST_CASE("program callbacks: child graphs in more levels than the limit are read incompletely") {
  PlayedProgram program;
  HandMadeKernel kernel{"_Z1kv"};
  std::deque<HandMadeGraph> levels(400);
  for (std::size_t level = 0; level + 1 < levels.size(); ++level) {
    HandMadeNode opened;
    opened.type = CU_GRAPH_NODE_TYPE_GRAPH, opened.child = &levels[level + 1];
    levels[level].nodes.push_back(opened);
  }
  levels.back().nodes.push_back(kernel_node(kernel, 0));
  program.instantiate(levels.front());

  const auto records = collected(program.program);
  const trace::GraphVersion version = all<trace::GraphVersion>(records).at(0);
  REQUIRE(version.nodes.size() == 1);
  CHECK(label_of(version, 0) == "child graph 255");
  const trace::Message message = all<trace::Message>(records).at(0);
  CHECK(message.id == "run.unread");
  CHECK(message.text.find("graphs inside graphs in more than 256 levels") != std::string::npos);
}

TEST_CASE(
    "program callbacks: launches are replays on named queues, except failed and captured "
    "launches") {
  PlayedProgram program;
  HandMadeKernel kernel{"_Z1kv"};
  HandMadeGraph graph;
  graph.nodes.push_back(kernel_node(kernel, 0));
  program.instantiate(graph);
  program.launch();
  program.call(CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch, cuGraphLaunch_params{program.exec, nullptr});
  program.call(CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz,
               cuGraphLaunch_ptsz_params{program.exec, nullptr});
  program.launch({.result = CUDA_ERROR_INVALID_VALUE, .correlation = 2});
  program.enter(CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch, program.launch_parameters());
  program.make_node(graph, graph.nodes[0]);
  program.leave(CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch, program.launch_parameters(),
                {.correlation = 3});
  const auto records = collected(program.program);
  CHECK(all<trace::Replay>(records).size() == 3);
  const auto queues = all<trace::Queue>(records);
  REQUIRE(queues.size() == 3);
  CHECK(queues[0].label == "stream 13");
  CHECK(queues[1].label == "default stream");
  CHECK(queues[2].label.starts_with("default stream of thread "));
}

TEST_CASE(
    "program callbacks: set parameters, disabled nodes and whole-graph updates are the latest "
    "values of the graph") {
  PlayedProgram program;
  HandMadeKernel kernel{"_Z1kv"}, other{"_Z1jv"};
  HandMadeGraph graph;
  graph.nodes.push_back(kernel_node(kernel, 0));
  program.instantiate(graph);
  CHECK(program.only_version().version == 1);
  const CUgraphNode node = handle_of<CUgraphNode>(graph.nodes[0]);
  CUDA_KERNEL_NODE_PARAMS parameters = kernel_node(other, 0).kernel;
  parameters.gridDimX = 9;
  program.call(CUPTI_DRIVER_TRACE_CBID_cuGraphExecKernelNodeSetParams_v2,
               cuGraphExecKernelNodeSetParams_v2_params{program.exec, node, &parameters});
  program.launch();
  trace::GraphVersion version = program.last_version();
  CHECK(version.version == 1);
  CHECK(name_of(version, 0) == "j");
  CHECK(version.nodes[0].grid[0] == 9);
  program.call(CUPTI_DRIVER_TRACE_CBID_cuGraphNodeSetEnabled,
               cuGraphNodeSetEnabled_params{program.exec, node, 0});
  program.launch();
  CHECK(name_of(program.last_version(), 0) == "j (disabled)");
  CUgraphExecUpdateResultInfo info = {};
  program.call(CUPTI_DRIVER_TRACE_CBID_cuGraphExecUpdate_v2,
               cuGraphExecUpdate_v2_params{program.exec, handle_of<CUgraph>(graph), &info});
  version = program.last_version();
  CHECK(name_of(version, 0) == "k");
  CHECK(version.changes == std::vector<trace::NodeChanges>{{0, 3}});
  program.call(CUPTI_DRIVER_TRACE_CBID_cuGraphExecUpdate_v2,
               cuGraphExecUpdate_v2_params{program.exec, handle_of<CUgraph>(graph), &info},
               {.result = CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE});
  const auto records = collected(program.program);
  CHECK(all<trace::GraphVersion>(records).empty());
  CHECK(all<trace::Message>(records).at(0).text.find("910") != std::string::npos);
}

TEST_CASE("program callbacks: a kernel is asked for once, until the program unloads kernels") {
  PlayedProgram program;
  HandMadeKernel kernel{"_Z1kv"};
  HandMadeGraph graph;
  graph.nodes.push_back(kernel_node(kernel, 0));
  program.instantiate(graph);
  const CUgraphNode node = handle_of<CUgraphNode>(graph.nodes[0]);
  const CUDA_KERNEL_NODE_PARAMS parameters = kernel_node(kernel, 0).kernel;
  const auto set = [&] {
    program.call(CUPTI_DRIVER_TRACE_CBID_cuGraphExecKernelNodeSetParams_v2,
                 cuGraphExecKernelNodeSetParams_v2_params{program.exec, node, &parameters});
    return name_of(program.last_version(), 0);
  };
  CHECK(set() == "k");
  kernel.name = "_Z5otherv";  // another kernel at the same address
  CHECK(set() == "k");
  program.call(CUPTI_DRIVER_TRACE_CBID_cuModuleUnload, cuModuleUnload_params{});
  CHECK(set() == "other");
}

TEST_CASE(
    "program callbacks: memory of every allocation family is known from allocation to release") {
  PlayedProgram program;
  CUdeviceptr address = 0x1000000;
  program.call(CUPTI_DRIVER_TRACE_CBID_cuMemAllocAsync,
               cuMemAllocAsync_params{&address, 64, nullptr});
  void* host = reinterpret_cast<void*>(0x2000000);
  program.call(CUPTI_DRIVER_TRACE_CBID_cuMemHostAlloc, cuMemHostAlloc_params{&host, 128, 0});
  program.call(CUPTI_DRIVER_TRACE_CBID_cuMemMap, cuMemMap_params{0x3000000, 256, 0, 0, 0});
  program.call(CUPTI_DRIVER_TRACE_CBID_cuMemAlloc_v2, cuMemAlloc_v2_params{&address, 64},
               {.result = CUDA_ERROR_OUT_OF_MEMORY});
  CHECK(all<trace::BufferLifetime>(collected(program.program)).size() == 3);
  program.call(CUPTI_DRIVER_TRACE_CBID_cuMemFreeAsync, cuMemFreeAsync_params{0x1000000, nullptr});
  program.call(CUPTI_DRIVER_TRACE_CBID_cuMemFreeHost, cuMemFreeHost_params{host});
  program.call(CUPTI_DRIVER_TRACE_CBID_cuMemUnmap, cuMemUnmap_params{0x3000000, 256});
  const auto lives = all<trace::BufferLifetime>(collected(program.program));
  CHECK(lives.size() == 3);
  CHECK(std::all_of(lives.begin(), lives.end(),
                    [](const trace::BufferLifetime& life) { return life.freed != 0; }));
}

TEST_CASE(
    "program callbacks: without a usable driver graphs are recorded without nodes, with the "
    "reason") {
  PlayedProgram program;
  program.no_driver = "the driver is too old";
  HandMadeGraph graph;
  program.instantiate(graph);
  program.launch();
  program.context_made();
  CHECK(program.contexts == 1);
  const auto records = collected(program.program);
  CHECK(all<trace::GraphVersion>(records).at(0).nodes.empty());
  CHECK(all<trace::Message>(records).at(0).text.find("too old") != std::string::npos);
  CHECK(program.callbacks().take_error() == "the driver is too old");
  CHECK(program.callbacks().take_error().empty());
}

TEST_CASE("program callbacks: each callback is subscribed once") {
  std::vector<std::pair<int, std::uint32_t>> wanted;
  for (const detail::CallbackId& one : ProgramCallbacks::wanted())
    wanted.emplace_back(one.domain, one.id);
  std::sort(wanted.begin(), wanted.end());
  CHECK(std::adjacent_find(wanted.begin(), wanted.end()) == wanted.end());
}

TEST_CASE(
    "program callbacks: device memory is measured before a capture, after the instantiation and "
    "after the first launch") {
  PlayedProgram program;
  HandMadeKernel kernel{"_Z1kv"};
  HandMadeGraph graph;
  graph.nodes.push_back(kernel_node(kernel, 0));
  CUgraph captured = handle_of<CUgraph>(graph);
  const auto stream = reinterpret_cast<CUstream>(0x7000000);
  const cuStreamBeginCapture_v2_params begin{stream, CU_STREAM_CAPTURE_MODE_GLOBAL};
  const cuStreamEndCapture_params end{stream, &captured};
  const cuGraphInstantiateWithFlags_params make{&program.exec, captured, 0};

  hand_made_used_memory = 1'000;
  program.enter(CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2, begin);
  hand_made_used_memory = 3'000;  // the program allocates while it captures
  program.leave(CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2, begin);
  program.call(CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture, end);
  program.enter(CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithFlags, make);
  program.instantiate(graph);
  hand_made_used_memory = 4'500;
  program.leave(CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithFlags, make);
  auto costs = all<trace::CreationCost>(collected(program.program));
  REQUIRE(costs.size() == 1);
  CHECK(costs[0].capture_time > 0);
  CHECK(costs[0].launch_time == 0);
  CHECK(costs[0].capture_bytes == 3'500);
  CHECK(costs[0].launch_bytes == trace::kUnknownBytes);

  const auto call = [&](CUpti_CallbackId id, const auto& parameters, std::size_t after) {
    program.enter(id, parameters);
    hand_made_used_memory = after;
    program.leave(id, parameters);
  };
  const cuGraphUpload_params upload{program.exec, stream};
  const cuGraphLaunch_params launch = program.launch_parameters();
  hand_made_used_memory = 5'000;  // other graphs are created in between
  call(CUPTI_DRIVER_TRACE_CBID_cuGraphUpload, upload, 5'200);
  hand_made_used_memory = 6'000;
  call(CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch, launch, 6'030);
  call(CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch, launch, 9'000);
  call(CUPTI_DRIVER_TRACE_CBID_cuGraphUpload, upload, 9'500);
  costs = all<trace::CreationCost>(collected(program.program));
  REQUIRE(costs.size() == 2);
  CHECK(costs[0].launch_bytes == 200);
  CHECK(costs[1].launch_bytes == 230);
  CHECK(costs[1].launch_time > costs[0].launch_time);
  CHECK(costs[1].capture_bytes == 3'500);
}

TEST_CASE("program callbacks: a graph without a capture is measured from its instantiation on") {
  PlayedProgram program;
  HandMadeGraph graph;
  const auto stream = reinterpret_cast<CUstream>(0x7000000);
  const cuStreamBeginCapture_params begin{stream};
  const cuStreamEndCapture_params end{stream, nullptr};
  const cuGraphInstantiateWithParams_params make{&program.exec, handle_of<CUgraph>(graph), nullptr};
  hand_made_used_memory = 1'000;
  program.call(CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture, begin);
  program.call(CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture, end,
               {CUDA_ERROR_STREAM_CAPTURE_INVALIDATED});
  hand_made_used_memory = 2'000;
  program.enter(CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithParams, make);
  program.instantiate(graph);
  hand_made_used_memory = 2'500;
  program.leave(CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithParams, make);
  const auto costs = all<trace::CreationCost>(collected(program.program));
  REQUIRE(costs.size() == 1);
  CHECK(costs[0].capture_time == 0);
  CHECK(costs[0].capture_bytes == 500);
}

TEST_CASE("program callbacks: launches by kernels are reported as invisible") {
  HandMadeGraph graph;
  const CUgraph handle = handle_of<CUgraph>(graph);
  const auto messages_of = [&](CUpti_CallbackId id, const auto& make) {
    PlayedProgram program;
    program.enter(id, make);
    program.instantiate(graph);
    program.leave(id, make);
    std::string ids;
    for (const auto& message : all<trace::Message>(collected(program.program))) ids += message.id;
    return ids;
  };
  CUgraphExec exec = nullptr;
  constexpr auto kDevice = CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH,
                 kPriority = CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
  for (const auto& [flags, ids] :
       {std::pair(kDevice | kPriority, "run.device-launch"), std::pair(int{kPriority}, "")}) {
    CUDA_GRAPH_INSTANTIATE_PARAMS parameters = {};
    parameters.flags = static_cast<cuuint64_t>(flags);
    CHECK(messages_of(CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithFlags,
                      cuGraphInstantiateWithFlags_params{&exec, handle, parameters.flags}) == ids);
    CHECK(messages_of(CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithParams,
                      cuGraphInstantiateWithParams_params{&exec, handle, &parameters}) == ids);
  }
}

}  // namespace reprise::test
