// CUDA's own DOT output of a graph, beside the plan's.
#include <reprise/cuda_interop.hpp>

#include <string>

#include "base/handle_access.hpp"
#include "base/text.hpp"
#include "interop/cuda_access.hpp"
#include "plan/dot_parameters.hpp"
#include "runtime/core/device_core.hpp"
#include "runtime/graph/compiled_graph.hpp"

namespace reprise::inline REPRISE_ABI {

unsigned to_cuda(DotFlags flags) noexcept {
  constexpr unsigned kCudas = 0xffff;
  static_assert(static_cast<unsigned>(DotFlags::Verbose) == CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE);
  static_assert(static_cast<unsigned>(DotFlags::RuntimeTypes) ==
                CU_GRAPH_DEBUG_DOT_FLAGS_RUNTIME_TYPES);
  static_assert(static_cast<unsigned>(DotFlags::KernelNodeParams) ==
                CU_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_PARAMS);
  static_assert(static_cast<unsigned>(DotFlags::MemcpyNodeParams) ==
                CU_GRAPH_DEBUG_DOT_FLAGS_MEMCPY_NODE_PARAMS);
  static_assert(static_cast<unsigned>(DotFlags::MemsetNodeParams) ==
                CU_GRAPH_DEBUG_DOT_FLAGS_MEMSET_NODE_PARAMS);
  static_assert(static_cast<unsigned>(DotFlags::HostNodeParams) ==
                CU_GRAPH_DEBUG_DOT_FLAGS_HOST_NODE_PARAMS);
  static_assert(static_cast<unsigned>(DotFlags::EventNodeParams) ==
                CU_GRAPH_DEBUG_DOT_FLAGS_EVENT_NODE_PARAMS);
  static_assert(static_cast<unsigned>(DotFlags::ExtSemasSignalNodeParams) ==
                CU_GRAPH_DEBUG_DOT_FLAGS_EXT_SEMAS_SIGNAL_NODE_PARAMS);
  static_assert(static_cast<unsigned>(DotFlags::ExtSemasWaitNodeParams) ==
                CU_GRAPH_DEBUG_DOT_FLAGS_EXT_SEMAS_WAIT_NODE_PARAMS);
  static_assert(static_cast<unsigned>(DotFlags::KernelNodeAttributes) ==
                CU_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_ATTRIBUTES);
  static_assert(static_cast<unsigned>(DotFlags::Handles) == CU_GRAPH_DEBUG_DOT_FLAGS_HANDLES);
  static_assert(static_cast<unsigned>(DotFlags::MemAllocNodeParams) ==
                CU_GRAPH_DEBUG_DOT_FLAGS_MEM_ALLOC_NODE_PARAMS);
  static_assert(static_cast<unsigned>(DotFlags::MemFreeNodeParams) ==
                CU_GRAPH_DEBUG_DOT_FLAGS_MEM_FREE_NODE_PARAMS);
  static_assert(static_cast<unsigned>(DotFlags::BatchMemOpNodeParams) ==
                CU_GRAPH_DEBUG_DOT_FLAGS_BATCH_MEM_OP_NODE_PARAMS);
  static_assert(static_cast<unsigned>(DotFlags::ExtraTopoInfo) ==
                CU_GRAPH_DEBUG_DOT_FLAGS_EXTRA_TOPO_INFO);
  static_assert(static_cast<unsigned>(DotFlags::ConditionalNodeParams) ==
                CU_GRAPH_DEBUG_DOT_FLAGS_CONDITIONAL_NODE_PARAMS);
  return static_cast<unsigned>(flags) & kCudas;
}

void cuda_debug_dot(const CapturedGraph& graph, const std::filesystem::path& path, DotFlags flags) {
  const detail::CudaExec& exec = detail::cuda_exec(graph, "cuda_debug_dot");
  detail::require_flags(flags, graph.label());
  const std::shared_ptr<const detail::CudaContext> context =
      detail::cuda_backend(detail::make_handle<Device>(detail::core_of(graph)->device()),
                           "cuda_debug_dot")
          .context();
  const detail::SetupScope scope(*context, Stage::Plan);
  const std::string subject = detail::concat("graph ", graph.label(), " to ", path.string());
  detail::cuda_check(context->driver.cuGraphDebugDotPrint(static_cast<CUgraph>(exec.native_graph()),
                                                          path.c_str(), to_cuda(flags)),
                     "cuGraphDebugDotPrint", context->at(Stage::Plan, subject));
}

}  // namespace reprise::inline REPRISE_ABI
