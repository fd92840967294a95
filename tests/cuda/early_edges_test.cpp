// Programmatic edges and joins, as CUDA reports them.
#include <algorithm>
#include <cstdint>
#include <vector>

#include <reprise/cuda_interop.hpp>

#include <gpu_kernels.shaders.hpp>

#include "backend/backend.hpp"
#include "base/handle_access.hpp"
#include "compile/stages.hpp"
#include "cuda/gpu.hpp"
#include "lowering/lowering_config.hpp"
#include "runtime/core/device_core.hpp"
#include "runtime/graph/compiled_graph.hpp"

namespace reprise::test {
namespace {

constexpr unsigned kThreads = 64;

std::vector<cudaGraphEdgeData> edges_of(cudaGraph_t graph) {
  std::size_t count = 0;
#if CUDART_VERSION >= 13000
  REQUIRE(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &count) == cudaSuccess);
  std::vector<cudaGraphNode_t> from(count), to(count);
  std::vector<cudaGraphEdgeData> data(count);
  REQUIRE(cudaGraphGetEdges(graph, from.data(), to.data(), data.data(), &count) == cudaSuccess);
#else
  REQUIRE(cudaGraphGetEdges_v2(graph, nullptr, nullptr, nullptr, &count) == cudaSuccess);
  std::vector<cudaGraphNode_t> from(count), to(count);
  std::vector<cudaGraphEdgeData> data(count);
  REQUIRE(cudaGraphGetEdges_v2(graph, from.data(), to.data(), data.data(), &count) == cudaSuccess);
#endif
  return data;
}

std::vector<cudaGraphNode_t> nodes_of(cudaGraph_t graph) {
  std::size_t count = 0;
  REQUIRE(cudaGraphGetNodes(graph, nullptr, &count) == cudaSuccess);
  std::vector<cudaGraphNode_t> nodes(count);
  REQUIRE(cudaGraphGetNodes(graph, nodes.data(), &count) == cudaSuccess);
  return nodes;
}

cudaGraph_t native(const CapturedGraph& graph) {
  return static_cast<cudaGraph_t>(detail::core_of(graph)->exec().native_graph());
}

}  // namespace

TEST_CASE(
    "programmatic edges: a chain of kernels with programmatic start has programmatic edges, if the "
    "device supports them") {
  if (!have_gpu()) return;
  const Gpu gpu;
  const auto y = gpu.pool->allocate<float>(kThreads, "y");
  const Kernel add = gpu.device.load_kernel(shaders::gpu_add);
  const auto chain = [&](DispatchDesc::Start start) {
    return gpu.compile([&](CommandBuffer& cmd) {
      for (int i = 0; i < 10; ++i)
        cmd.dispatch(add, {.grid = 1, .block = kThreads, .start = start}, read_write(y), 1.0F,
                     kThreads);
    });
  };
  const auto programmatic = [](const CapturedGraph& graph) {
    const auto edges = edges_of(native(graph));
    return std::count_if(edges.begin(), edges.end(), [](const cudaGraphEdgeData& edge) {
      return edge.type == cudaGraphDependencyTypeProgrammatic;
    });
  };
  const int all = gpu.device.info().compute_major >= 9 ? 9 : 0;
  CHECK(programmatic(chain(DispatchDesc::Start::Ordered)) == 0);
  CHECK(programmatic(chain(DispatchDesc::Start::Programmatic)) == all);
  CommandBuffer cmd =
      gpu.device.create_command_buffer({.label = "barriers", .ordering = Ordering::Explicit});
  cmd.begin();
  for (int i = 0; i < 10; ++i) {
    cmd.dispatch(add, {.grid = 1, .block = kThreads, .start = DispatchDesc::Start::Programmatic},
                 read_write(y), 1.0F, kThreads);
    cmd.barrier({.buffer = y, .dependency = Dependency::Programmatic});
  }
  cmd.end();
  CHECK(programmatic(gpu.device.compile(cmd, {.pool = gpu.pool})) == all);
}

TEST_CASE(
    "programmatic edges: a remaining barrier becomes a kernel, because empty nodes are slow "
    "there") {
  if (!have_gpu()) return;
  const Gpu gpu;
  const Kernel add = gpu.device.load_kernel(shaders::gpu_add);
  std::vector<GpuRef<float>> parts;
  for (int i = 0; i < 40; ++i) parts.push_back(gpu.pool->allocate<float>(kThreads, "part"));
  CommandBuffer commands = gpu.record(
      [&](CommandBuffer& cmd) {
        for (int round = 0; round < 2; ++round) {
          for (const auto& part : parts)
            cmd.dispatch(add, {.grid = 1, .block = kThreads}, read_write(part), 1.0F, kThreads);
          if (round == 0) cmd.barrier({});
        }
      },
      Ordering::Explicit);
  CapturedGraph graph = gpu.device.compile(commands, {.pool = gpu.pool});
  for (const cudaGraphNode_t node : nodes_of(native(graph))) {
    cudaGraphNodeType type = cudaGraphNodeTypeCount;
    REQUIRE(cudaGraphNodeGetType(node, &type) == cudaSuccess);
    CHECK(type == cudaGraphNodeTypeKernel);
  }
  graph.launch(gpu.queue).wait();
}

TEST_CASE(
    "tuning on a GPU: a wide graph of short kernels never gets slower and computes the same "
    "result") {
  if (!have_gpu()) return;
  const Gpu gpu;
  std::vector<GpuRef<float>> parts;
  for (int i = 0; i < 24; ++i) parts.push_back(gpu.pool->allocate<float>(kThreads, "part"));
  const auto sum = gpu.pool->allocate<float>(kThreads, "sum");
  gpu.run([&](CommandBuffer& cmd) {
    for (const auto& part : parts) cmd.fill(part, 0.0F);
    cmd.fill(sum, 0.0F);
  });
  const Kernel add = gpu.device.load_kernel(shaders::gpu_add);
  CapturedGraph graph = gpu.compile([&](CommandBuffer& cmd) {
    for (int round = 0; round < 10; ++round) {
      for (const auto& part : parts)
        cmd.dispatch(add, {.grid = 1, .block = kThreads}, read_write(part), 1.0F, kThreads);
      cmd.dispatch(add, {.grid = 1, .block = kThreads}, read_write(sum), 2.0F, kThreads);
    }
  });
  const TuneReport report = graph.tune(gpu.queue);
  bool has_costs = false;
  for (const TuneCandidate& candidate : report.candidates)
    has_costs |= candidate.name.find("by cost") != std::string::npos;
  CHECK(has_costs);  // the profiling run reported node costs
  if (report.has_changed()) {
    CHECK(report.candidates[report.chosen].ratio_high < 1);
    CHECK(report.confirmed_ratio < 1);
  }
  MESSAGE("chosen: ", report.candidates[report.chosen].name, ", ",
          report.candidates[report.chosen].ratio);
  CHECK(gpu.read(sum) == std::vector<float>(kThreads, 0.0F));
  graph.launch(gpu.queue).wait();
  CHECK(gpu.read(sum) == std::vector<float>(kThreads, 20.0F));
  CHECK(gpu.read(parts[0]) == std::vector<float>(kThreads, 10.0F));
}

}  // namespace reprise::test
