// A program without Reprise that uses graphs as CUDA's samples do: conditional nodes of each kind,
// memory nodes, or a graph that a kernel launches. gpu_test.py checks its trace against the line
// that it prints. Exit code 0: all CUDA calls succeeded and the results are correct. Usage:
// patterns conditional|memory|launch.
#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <type_traits>

#include "check_cuda.hpp"

namespace {

constexpr int kTurns = 4, kIterations = 5, kRuns = 3, kDeviceLaunches = 10, kHostLaunches = 2;

__global__ void count(int* counter) { ++*counter; }
__global__ void choose(cudaGraphConditionalHandle condition, int* turn, int choices) {
  cudaGraphSetConditional(condition, static_cast<unsigned>((*turn)++ % choices));
}
__global__ void launch_worker(cudaGraphExec_t worker, int* failures) {
  if (cudaGraphLaunch(worker, cudaStreamGraphFireAndForget) != cudaSuccess) ++*failures;
}

void expect(int actual, int expected, const char* what) {
  if (actual == expected) return;
  std::fprintf(stderr, "%s: %d instead of %d\n", what, actual, expected);
  std::exit(3);
}

// Four, which kernels and this thread read and write.
int* make_counters(int first) {
  int* counters = nullptr;
  CHECK_CUDA(cudaMallocHost(&counters, 4 * sizeof(int)));
  counters[0] = first;
  counters[1] = counters[2] = counters[3] = 0;
  return counters;
}

// `after`: null: the node is a root.
template <class... Arguments>
cudaGraphNode_t add_kernel(cudaGraph_t graph, cudaGraphNode_t after, void (*kernel)(Arguments...),
                           std::type_identity_t<Arguments>... arguments) {
  void* addresses[] = {&arguments...};
  cudaKernelNodeParams parameters = {};
  parameters.func = reinterpret_cast<void*>(kernel);
  parameters.gridDim = parameters.blockDim = dim3(1);
  parameters.kernelParams = addresses;
  cudaGraphNode_t node = nullptr;
  CHECK_CUDA(cudaGraphAddKernelNode(&node, graph, &after, after == nullptr ? 0 : 1, &parameters));
  return node;
}

cudaGraphExec_t instantiate(const char* name, cudaGraph_t graph, unsigned flags = 0) {
  nvtxRangePushA(name);
  cudaGraphExec_t exec = nullptr;
  CHECK_CUDA(cudaGraphInstantiate(&exec, graph, flags));
  nvtxRangePop();
  return exec;
}

void launch(cudaGraphExec_t exec, cudaStream_t stream, int times) {
  for (int i = 0; i < times; ++i) CHECK_CUDA(cudaGraphLaunch(exec, stream));
  CHECK_CUDA(cudaStreamSynchronize(stream));
}

struct Conditional {
  cudaGraph_t graph = nullptr;
  cudaGraphConditionalHandle condition = {};
  cudaGraph_t* bodies = nullptr;
};

// A kernel that chooses, unless the condition is that of a loop, and the conditional node after it.
Conditional make_conditional(cudaGraphConditionalNodeType type, unsigned bodies, int* turn,
                             int choices) {
  Conditional made;
  CHECK_CUDA(cudaGraphCreate(&made.graph, 0));
  CHECK_CUDA(
      cudaGraphConditionalHandleCreate(&made.condition, made.graph, 1, cudaGraphCondAssignDefault));
  cudaGraphNode_t first = nullptr, node = nullptr;
  if (type != cudaGraphCondTypeWhile)
    first = add_kernel(made.graph, nullptr, &choose, made.condition, turn, choices);
  cudaGraphNodeParams parameters = {};
  parameters.type = cudaGraphNodeTypeConditional;
  parameters.conditional.handle = made.condition;
  parameters.conditional.type = type;
  parameters.conditional.size = bodies;
  const std::size_t after = first == nullptr ? 0 : 1;
#if CUDART_VERSION >= 13000
  CHECK_CUDA(cudaGraphAddNode(&node, made.graph, &first, nullptr, after, &parameters));
#else
  CHECK_CUDA(cudaGraphAddNode(&node, made.graph, &first, after, &parameters));
#endif
  made.bodies = parameters.conditional.phGraph_out;
  return made;
}

// counters: the turn, then the runs of each body.
void branches(cudaStream_t stream) {
  int* counters = make_counters(0);
  const Conditional two = make_conditional(cudaGraphCondTypeIf, 2, counters, 2);
  for (int i = 0; i < 2; ++i) add_kernel(two.bodies[i], nullptr, &count, counters + 1 + i);
  launch(instantiate("if", two.graph), stream, kTurns);
  for (int i = 0; i < 2; ++i) expect(counters[1 + i], kTurns / 2, "runs of a branch");

  counters = make_counters(0);
  const Conditional three = make_conditional(cudaGraphCondTypeSwitch, 3, counters, kTurns);
  for (int i = 0; i < 3; ++i) add_kernel(three.bodies[i], nullptr, &count, counters + 1 + i);
  launch(instantiate("switch", three.graph), stream, kTurns);  // the last one runs no body
  for (int i = 0; i < 3; ++i) expect(counters[1 + i], 1, "runs of a case");
}

void loop(cudaStream_t stream) {
  int* counters = make_counters(1);
  const Conditional one = make_conditional(cudaGraphCondTypeWhile, 1, nullptr, 0);
  const cudaGraphNode_t counted = add_kernel(one.bodies[0], nullptr, &count, counters + 1);
  add_kernel(one.bodies[0], counted, &choose, one.condition, counters, kIterations);
  launch(instantiate("while", one.graph), stream, kRuns);
  expect(counters[1], kRuns * kIterations, "iterations");
}

void memory_nodes(cudaStream_t stream) {
  int* value = make_counters(0);
  cudaGraph_t graph = nullptr;
  CHECK_CUDA(cudaGraphCreate(&graph, 0));
  cudaMemAllocNodeParams memory = {};
  memory.bytesize = 1 << 20;
  memory.poolProps.allocType = cudaMemAllocationTypePinned;
  memory.poolProps.location.type = cudaMemLocationTypeDevice;
  cudaGraphNode_t allocated, filled, copied, freed;
  CHECK_CUDA(cudaGraphAddMemAllocNode(&allocated, graph, nullptr, 0, &memory));
  cudaMemsetParams fill = {};
  fill.dst = memory.dptr;
  fill.elementSize = 4;
  fill.width = fill.height = 1;
  CHECK_CUDA(cudaGraphAddMemsetNode(&filled, graph, &allocated, 1, &fill));
  const cudaGraphNode_t counted = add_kernel(graph, filled, &count, static_cast<int*>(memory.dptr));
  CHECK_CUDA(cudaGraphAddMemcpyNode1D(&copied, graph, &counted, 1, value, memory.dptr, sizeof(int),
                                      cudaMemcpyDeviceToHost));
  CHECK_CUDA(cudaGraphAddMemFreeNode(&freed, graph, &copied, 1, memory.dptr));
  launch(instantiate("memory", graph), stream, kRuns);
  expect(*value, 1, "value in the memory of a graph");
}

void launched_by_a_kernel(cudaStream_t stream) {
  int* counters = make_counters(0);  // runs of the worker, failed launches
  cudaGraph_t graph = nullptr;
  CHECK_CUDA(cudaGraphCreate(&graph, 0));
  add_kernel(graph, nullptr, &count, counters);
  const cudaGraphExec_t worker = instantiate("worker", graph, cudaGraphInstantiateFlagDeviceLaunch);
  CHECK_CUDA(cudaGraphUpload(worker, stream));
  CHECK_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  launch_worker<<<1, 1, 0, stream>>>(worker, counters + 1);
  CHECK_CUDA(cudaStreamEndCapture(stream, &graph));
  const cudaGraphExec_t launcher = instantiate("launcher", graph);
  for (int i = 0; i < kDeviceLaunches; ++i) launch(launcher, stream, 1);
  launch(worker, stream, kHostLaunches);
  expect(counters[1], 0, "failed launches by a kernel");
  expect(counters[0], kDeviceLaunches + kHostLaunches, "runs of the graph that a kernel launches");
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view pattern = argc == 2 ? argv[1] : "";
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess) return std::puts("skipped: no GPU"), 77;
  cudaStream_t stream = nullptr;
  CHECK_CUDA(cudaStreamCreate(&stream));
  // `replays` and `nodes`: of each graph, in order of instantiation.
  if (pattern == "conditional") {
    branches(stream);
    loop(stream);
    std::printf(
        R"({"graphs": 3, "replays": [%d, %d, %d], "nodes": [4, 5, 3], "runs": [%d, %d, %d], )"
        R"("names": ["if", "switch", "while", "body 2"]})"
        "\n",
        kTurns, kTurns, kRuns, 2 * kTurns, 2 * kTurns - 1, 2 * kRuns * kIterations);
  } else if (pattern == "memory") {
    memory_nodes(stream);
    std::printf(
        R"({"graphs": 1, "replays": [%d], "nodes": [5], "names": ["memory", "allocate", "free"]})"
        "\n",
        kRuns);
  } else if (pattern == "launch") {
    launched_by_a_kernel(stream);
    std::printf(
        R"({"graphs": 2, "replays": [%d, %d], "nodes": [1, 1], "names": ["worker", "launcher"], )"
        R"("messages": ["run.device-launch"]})"
        "\n",
        kHostLaunches, kDeviceLaunches);
  } else {
    return std::fputs("usage: patterns conditional|memory|launch\n", stderr), 2;
  }
}
