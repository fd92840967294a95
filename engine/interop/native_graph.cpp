#include "interop/native_graph.hpp"

#include <algorithm>
#include <utility>

#include "backend/cuda/graph/cuda_exec.hpp"
#include "backend/cuda/native/graph_reader.hpp"
#include "base/failure.hpp"
#include "base/handle_access.hpp"
#include "base/text.hpp"
#include "capture/pointer_resolver.hpp"
#include "lowering/lowered_graph.hpp"
#include "runtime/core/device_core.hpp"
#include "runtime/graph/compiled_graph.hpp"
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
    return FoundBuffer{core_of(found), found.offset()};
  };
  ReadGraph read = read_graph(context, graph, desc.label, finder);
  if (desc.pool) retain_pool(*read.recording, *core_of(device), *core_of(*desc.pool));
  LoweredGraph lowered = build_lowered_graph(read.dependencies, Lowering::Faithful);
  return std::make_shared<const Plan>(
      freeze_plan(std::string(desc.label), std::move(read.recording), std::move(read.dependencies),
                  std::move(lowered), {}));
}

}  // namespace

CapturedGraph graph_of_native(const Device& device, CudaBackend& backend, OwnedGraph graph,
                              const NativeGraphDesc& desc) {
  core_of(device)->require_usable(Stage::Instantiate);
  if (desc.pool && core_of(*desc.pool)->device() != core_of(device)) {
    fail(ErrorCode::WrongDevice, Stage::Instantiate, desc.label,
         concat("pool ", desc.pool->label(), " of ",
                name_beside(*core_of(*desc.pool)->device()->status(), *core_of(device)->status()),
                " cannot serve graph ", desc.label, " on ", device.info().selector));
  }
  ExecutableSpec spec{.device = core_of(device),
                      .pool = desc.pool,
                      .plan = read_plan(device, *backend.context(), graph.get(), desc),
                      .origin = ExecutableSpec::Origin::Adopted};
  const bool is_traced = core_of(device)->trace() != nullptr;
  auto exec = std::make_unique<CudaExec>(backend.context(), spec.plan, std::move(graph), desc.owner,
                                         is_traced ? backend.instrumentation() : nullptr);
  CompileReport report;
  report.commands = static_cast<std::uint32_t>(spec.plan->recording->commands.size());
  report.nodes = exec->node_count();
  report.needed_edges = static_cast<std::uint32_t>(spec.plan->dependencies.edges.size());
  report.redundant_edges_left = spec.plan->dependencies.redundant_edges_left;
  report.plan_hash = spec.plan->plan_hash;
  report.lowering_hash = spec.plan->lowering_hash;
  auto executable = std::make_unique<GraphExecutable>(std::move(spec), TransientMemory{},
                                                      BindingState{}, std::move(exec));
  return make_handle<CapturedGraph>(std::make_shared<CompiledGraph>(
      std::vector{GraphReplica::make(std::move(executable), report.messages)}, std::move(report)));
}

}  // namespace reprise::detail
