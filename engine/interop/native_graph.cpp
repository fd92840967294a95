#include "interop/native_graph.hpp"

#include <algorithm>
#include <utility>

#include "backend/cuda/cuda_exec.hpp"
#include "backend/cuda/graph_reader.hpp"
#include "base/failure.hpp"
#include "base/text.hpp"
#include "capture/pointer_resolver.hpp"
#include "lowering/lowered_graph.hpp"
#include "runtime/core/device_core.hpp"
#include "runtime/graph/graph_core.hpp"
#include "runtime/graph/graph_executable.hpp"
#include "runtime/memory/pool_core.hpp"

namespace reprise::detail {
namespace {

// Adds pool buffers that the nodes do not reveal: a kernel may load their addresses from memory, so
// each counts as read and written.
void retain_pool(Recording& recording, DeviceCore& device, const PoolCore& pool) {
  for (const auto& buffer : device.live_buffers()) {
    if (buffer->pool().get() != &pool || !buffer->is_persistent()) continue;
    const auto known = std::find(recording.buffers.begin(), recording.buffers.end(), buffer);
    if (known != recording.buffers.end()) continue;
    recording.accesses.push_back({static_cast<std::uint32_t>(recording.buffers.size()),
                                  Access::ReadWrite, 0, 0, buffer->bytes});
    recording.buffers.push_back(buffer);
  }
}

std::shared_ptr<const Plan> read_plan(const Device& device, const CudaContext& context,
                                      CUgraph graph, const NativeGraphDesc& desc) {
  PointerResolver pointers(device);
  pointers.refresh();
  const BufferFinder finder = [&](const void* address) {
    const BufferView found = pointers.find_listed(address);
    return FoundBuffer{found.core(), found.offset()};
  };
  ReadGraph read = read_graph(context, graph, desc.label, finder);
  if (desc.pool) retain_pool(*read.recording, *device.core(), *desc.pool->core());
  LoweredGraph lowered = build_lowered_graph(read.dependencies, Lowering::Faithful);
  return std::make_shared<const Plan>(
      freeze_plan(std::string(desc.label), std::move(read.recording), std::move(read.dependencies),
                  std::move(lowered), {}));
}

}  // namespace

CapturedGraph graph_of_native(const Device& device, CudaBackend& backend, OwnedGraph graph,
                              const NativeGraphDesc& desc) {
  if (desc.pool && desc.pool->core()->device() != device.core()) {
    fail(ErrorCode::WrongDevice, Stage::Instantiate, desc.label,
         concat("pool ", desc.pool->label(), " of ", desc.pool->core()->device()->info().selector,
                " cannot serve graph ", desc.label, " on ", device.info().selector));
  }
  auto body = std::make_unique<GraphExecutable>(device.core());
  body->pool = desc.pool;
  body->plan = read_plan(device, *backend.context(), graph.get(), desc);
  const bool is_traced = device.core()->trace() != nullptr;
  auto exec =
      std::make_unique<CudaExec>(backend.context(), body->plan, std::move(graph), desc.owner,
                                 is_traced ? backend.instrumentation() : nullptr);
  CompileReport report;
  report.commands = static_cast<std::uint32_t>(body->plan->recording->commands.size());
  report.nodes = exec->node_count();
  report.needed_edges = static_cast<std::uint32_t>(body->plan->dependencies.edges.size());
  report.redundant_edges_left = body->plan->dependencies.redundant_edges_left;
  report.plan_hash = body->plan->plan_hash;
  report.lowering_hash = body->plan->lowering_hash;
  body->exec = std::move(exec);
  return CapturedGraph(GraphCore::make(std::move(body), std::move(report)));
}

}  // namespace reprise::detail
