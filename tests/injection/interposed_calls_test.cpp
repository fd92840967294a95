// InterposedCalls: the program's calls as the interposer reports them, with a fake driver.
#include "injection/interposed_calls.hpp"

#include <doctest/doctest.h>

#include "injection/played_program.hpp"

namespace reprise::test {
namespace {

const CUstream kCapturingStream = reinterpret_cast<CUstream>(0x7000000);

class InterposedProgram : public PlayedProgram {
 public:
  template <class Parameters>
  void take(CUpti_CallbackId id, const Parameters& parameters, CUresult result = CUDA_SUCCESS) {
    calls_.take(id, &parameters, nullptr);
    calls_.take(id, &parameters, &result);
  }
  void instantiate(HandMadeGraph& graph) {
    CUgraphExec made = exec;
    take(CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithFlags,
         cuGraphInstantiateWithFlags_params{&made, handle_of<CUgraph>(graph), 0});
  }
  void add(HandMadeGraph& graph, HandMadeNode& node) {
    CUgraphNode made = handle_of<CUgraphNode>(node);
    take(
        CUPTI_DRIVER_TRACE_CBID_cuGraphAddKernelNode_v2,
        cuGraphAddKernelNode_v2_params{&made, handle_of<CUgraph>(graph), nullptr, 0, &node.kernel});
  }
  void begin_capture() {
    take(CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2,
         cuStreamBeginCapture_v2_params{kCapturingStream, CU_STREAM_CAPTURE_MODE_GLOBAL});
  }
  void end_capture(HandMadeGraph& graph) {
    hand_made_capture = {};
    CUgraph made = handle_of<CUgraph>(graph);
    take(CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture,
         cuStreamEndCapture_params{kCapturingStream, &made});
  }
  // The stream captures `node`.
  void launch_kernel(HandMadeGraph& graph, HandMadeNode& node) {
    hand_made_capture = {handle_of<CUgraph>(graph), handle_of<CUgraphNode>(node)};
    cuLaunchKernel_params parameters = {};
    parameters.hStream = kCapturingStream;
    take(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, parameters);
  }
  void launch_graph(CUresult result = CUDA_SUCCESS) {
    take(CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch, launch_parameters(), result);
  }

 private:
  const detail::DriverCalls driver_ = hand_made_driver();
  detail::InterposedCalls calls_{callbacks(), driver_};
};

HandMadeGraph chain_of(HandMadeKernel& kernel) {
  HandMadeGraph graph;
  graph.nodes.push_back(kernel_node(kernel, 0));
  graph.nodes.push_back(kernel_node(kernel, 1));
  graph.edges = {{0, 1}};
  return graph;
}

}  // namespace

TEST_CASE("interposed calls: a captured graph has its nodes, their stacks, and its replays") {
  InterposedProgram program;
  HandMadeKernel kernel{"_Z3addPf"};
  HandMadeGraph graph = chain_of(kernel);
  const detail::CodeName code{"step", "train.py"};
  const detail::CallFrame frame{nullptr, &code, 7};
  program.begin_capture();
  program.stack = &frame;
  program.launch_kernel(graph, graph.nodes[0]);
  program.stack = nullptr;
  program.launch_kernel(graph, graph.nodes[1]);
  program.end_capture(graph);
  program.instantiate(graph);
  program.launch_graph();
  program.launch_graph(CUDA_ERROR_INVALID_VALUE);
  program.launch_graph();

  const auto records = collected(program.program);
  REQUIRE(all<trace::GraphVersion>(records).size() == 1);
  const trace::GraphVersion version = all<trace::GraphVersion>(records)[0];
  REQUIRE(version.nodes.size() == 2);
  CHECK(version.strings[version.nodes[0].file] == "train.py");
  CHECK(version.nodes[0].line == 7);
  CHECK(version.nodes[1].line == 0);
  CHECK(all<trace::Replay>(records).size() == 2);
}

TEST_CASE("interposed calls: a launch into a captured stream is a node and no replay") {
  InterposedProgram program;
  HandMadeKernel kernel{"_Z3addPf"};
  HandMadeGraph graph = chain_of(kernel);
  program.instantiate(graph);
  program.begin_capture();
  hand_made_capture = {handle_of<CUgraph>(graph), handle_of<CUgraphNode>(graph.nodes[0])};
  program.launch_graph();
  program.end_capture(graph);
  CHECK(all<trace::Replay>(collected(program.program)).empty());
  program.launch_graph();
  CHECK(all<trace::Replay>(collected(program.program)).size() == 1);
}

TEST_CASE("interposed calls: kernels outside of captures are no nodes") {
  InterposedProgram program;
  HandMadeKernel kernel{"_Z3addPf"};
  HandMadeGraph graph = chain_of(kernel);
  const detail::CodeName code{"step", "train.py"};
  const detail::CallFrame frame{nullptr, &code, 7};
  program.stack = &frame;
  program.launch_kernel(graph, graph.nodes[0]);
  hand_made_capture = {};
  program.stack = nullptr;
  program.instantiate(graph);
  CHECK(program.only_version().nodes[0].line == 0);
}

TEST_CASE("interposed calls: an added node has its origin; handles are reused after destruction") {
  InterposedProgram program;
  HandMadeKernel kernel{"_Z3addPf"};
  HandMadeGraph graph = chain_of(kernel);
  const detail::CodeName code{"build", "train.py"};
  const detail::CallFrame frame{nullptr, &code, 9};
  program.stack = &frame;
  program.add(graph, graph.nodes[1]);
  program.instantiate(graph);
  CHECK(program.only_version().nodes[1].line == 9);

  program.stack = nullptr;
  program.take(CUPTI_DRIVER_TRACE_CBID_cuGraphExecDestroy, cuGraphExecDestroy_params{program.exec});
  program.take(CUPTI_DRIVER_TRACE_CBID_cuGraphDestroy,
               cuGraphDestroy_params{handle_of<CUgraph>(graph)});
  program.instantiate(graph);  // another graph with the same handles
  const auto records = collected(program.program);
  CHECK(all<trace::Ended>(records).size() == 1);
  REQUIRE(all<trace::GraphVersion>(records).size() == 1);
  CHECK(all<trace::GraphVersion>(records)[0].nodes[1].line == 0);
}

TEST_CASE("interposed calls: a node at the address of a destroyed one has not its origin") {
  InterposedProgram program;
  HandMadeKernel kernel{"_Z3addPf"};
  HandMadeGraph graph = chain_of(kernel);
  const detail::CodeName code{"build", "train.py"};
  const detail::CallFrame frame{nullptr, &code, 9};
  program.stack = &frame;
  program.add(graph, graph.nodes[1]);
  program.take(CUPTI_DRIVER_TRACE_CBID_cuGraphDestroyNode,
               cuGraphDestroyNode_params{handle_of<CUgraphNode>(graph.nodes[1])});
  program.instantiate(graph);
  CHECK(program.only_version().nodes[1].line == 0);
}

}  // namespace reprise::test
