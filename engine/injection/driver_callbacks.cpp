// Handles driver calls other than launches: changes of graphs and memory.
#include <utility>

#include "base/text.hpp"
#include "injection/callback_data.hpp"
#include "injection/driver_node_reader.hpp"
#include "injection/program_callbacks.hpp"
#include "profile/process_info.hpp"

namespace reprise::detail {
namespace {

std::string cuda_code(const CUpti_CallbackData& data) {
  return concat("error ",
                static_cast<int>(*static_cast<const CUresult*>(data.functionReturnValue)));
}

// Of the executable that an instantiating call creates.
ObservedProgram::Instantiation::Launchers launchers_of(CUpti_CallbackId id, const void* p) {
  using Launchers = ObservedProgram::Instantiation::Launchers;
  unsigned long long flags = 0;
  if (id == CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithFlags) {
    flags = as<cuGraphInstantiateWithFlags_params>(p).flags;
  } else if (const auto* const given =
                 as<cuGraphInstantiateWithParams_params>(p).instantiateParams) {
    flags = given->flags;
  }
  return (flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH) != 0 ? Launchers::HostAndKernels
                                                                  : Launchers::Host;
}

}  // namespace

void ProgramCallbacks::take_driver(CUpti_CallbackId id, const CUpti_CallbackData& data) {
  const void* const p = data.functionParams;
  if (sources_.waits != nullptr && take_wait(id, data)) return;
  switch (id) {
    case CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch:
      return take_launch(data, as<cuGraphLaunch_params>(p).hGraph,
                         as<cuGraphLaunch_params>(p).hStream, PerThread::No);
    case CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz:
      return take_launch(data, as<cuGraphLaunch_ptsz_params>(p).hGraphExec,
                         as<cuGraphLaunch_ptsz_params>(p).hStream, PerThread::Yes);
    case CUPTI_DRIVER_TRACE_CBID_cuGraphExecUpdate:
    case CUPTI_DRIVER_TRACE_CBID_cuGraphExecUpdate_v2:
      if (data.callbackSite == CUPTI_API_EXIT) take_update(id, data);
      return;
    case CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithFlags:
    case CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithParams:
    case CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithParams_ptsz:
      return take_instantiation(id, data);
    case CUPTI_DRIVER_TRACE_CBID_cuGraphUpload:
      return take_upload(data, as<cuGraphUpload_params>(p).hGraph);
    case CUPTI_DRIVER_TRACE_CBID_cuGraphUpload_ptsz:
      return take_upload(data, as<cuGraphUpload_ptsz_params>(p).hGraphExec);
    case CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture:
    case CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_ptsz:
    case CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2:
    case CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2_ptsz:
    case CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCaptureToGraph:
    case CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCaptureToGraph_ptsz:
    case CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture:
    case CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture_ptsz: return take_capture(id, data);
    case CUPTI_DRIVER_TRACE_CBID_cuModuleUnload:
    case CUPTI_DRIVER_TRACE_CBID_cuLibraryUnload:
    case CUPTI_DRIVER_TRACE_CBID_cuCtxDestroy_v2:
    case CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxReset_v2:
    case CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxRelease_v2: return kernels_.clear();
    default: break;
  }
  if (!succeeded(data)) return;
  switch (id) {
    case CUPTI_DRIVER_TRACE_CBID_cuGraphAddNode:
    case CUPTI_DRIVER_TRACE_CBID_cuGraphAddNode_v2: {
      const CUgraphNodeParams& made = *(id == CUPTI_DRIVER_TRACE_CBID_cuGraphAddNode
                                            ? as<cuGraphAddNode_params>(p).nodeParams
                                            : as<cuGraphAddNode_v2_params>(p).nodeParams);
      if (made.type != CU_GRAPH_NODE_TYPE_CONDITIONAL || made.conditional.phGraph_out == nullptr)
        return;
      const CUgraphNode node = *(id == CUPTI_DRIVER_TRACE_CBID_cuGraphAddNode
                                     ? as<cuGraphAddNode_params>(p).phGraphNode
                                     : as<cuGraphAddNode_v2_params>(p).phGraphNode);
      std::vector<std::uint64_t> bodies;
      for (unsigned i = 0; i < made.conditional.size; ++i)
        bodies.push_back(number_of(made.conditional.phGraph_out[i]));
      return program_.bodies_created(number_of(node), std::move(bodies));
    }
    case CUPTI_DRIVER_TRACE_CBID_cuGraphExecKernelNodeSetParams: {
      const auto& set = as<cuGraphExecKernelNodeSetParams_params>(p);
      const CUDA_KERNEL_NODE_PARAMS_v1& k = *set.nodeParams;
      return set_kernel_parameters(
          set.hGraphExec, set.hNode,
          {k.func, k.gridDimX, k.gridDimY, k.gridDimZ, k.blockDimX, k.blockDimY, k.blockDimZ,
           k.sharedMemBytes, k.kernelParams, k.extra, nullptr, nullptr});
    }
    case CUPTI_DRIVER_TRACE_CBID_cuGraphExecKernelNodeSetParams_v2: {
      const auto& set = as<cuGraphExecKernelNodeSetParams_v2_params>(p);
      return set_kernel_parameters(set.hGraphExec, set.hNode, *set.nodeParams);
    }
    case CUPTI_DRIVER_TRACE_CBID_cuGraphExecMemcpyNodeSetParams: {
      const auto& set = as<cuGraphExecMemcpyNodeSetParams_params>(p);
      CUgraphNodeParams parameters = {};
      parameters.type = CU_GRAPH_NODE_TYPE_MEMCPY;
      parameters.memcpy.copyParams = *set.copyParams;
      return set_parameters(set.hGraphExec, set.hNode, parameters);
    }
    case CUPTI_DRIVER_TRACE_CBID_cuGraphExecMemsetNodeSetParams: {
      const auto& set = as<cuGraphExecMemsetNodeSetParams_params>(p);
      CUgraphNodeParams parameters = {};
      parameters.type = CU_GRAPH_NODE_TYPE_MEMSET;
      const CUDA_MEMSET_NODE_PARAMS& m = *set.memsetParams;
      parameters.memset = {m.dst, m.pitch, m.value, m.elementSize, m.width, m.height, nullptr};
      return set_parameters(set.hGraphExec, set.hNode, parameters);
    }
    case CUPTI_DRIVER_TRACE_CBID_cuGraphExecNodeSetParams: {
      const auto& set = as<cuGraphExecNodeSetParams_params>(p);
      return set_parameters(set.hGraphExec, set.hNode, *set.nodeParams);
    }
    case CUPTI_DRIVER_TRACE_CBID_cuGraphNodeSetEnabled: {
      const auto& set = as<cuGraphNodeSetEnabled_params>(p);
      return program_.enabled(
          number_of(set.hGraphExec), number_of(set.hNode),
          set.isEnabled != 0 ? ObservedNode::Enabled::Yes : ObservedNode::Enabled::No, trace_now());
    }
    default: return take_memory(id, p);
  }
}

bool ProgramCallbacks::take_wait(CUpti_CallbackId id, const CUpti_CallbackData& data) {
  using Wait = ProgramWaits::Wait;
  Wait wait;
  CUstream stream = nullptr;
  PerThread per_thread = PerThread::No;
  switch (id) {
#if CUDA_VERSION >= 13000
    case CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize_v2:
#endif
    case CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize:
      wait.call = "cuCtxSynchronize";  // which consumers know by this name
      wait.what = Wait::For::Everything;
      break;
    case CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize_ptsz:
      per_thread = PerThread::Yes;
      [[fallthrough]];
    case CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize:
      wait.call = "cuStreamSynchronize";
      wait.what = Wait::For::Stream;
      stream = as<cuStreamSynchronize_params>(data.functionParams).hStream;
      break;
    case CUPTI_DRIVER_TRACE_CBID_cuEventSynchronize: wait.call = "cuEventSynchronize"; break;
    case CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoH_v2: wait.call = "cuMemcpyDtoH"; break;
    case CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoHAsync_v2:
    case CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoHAsync_v2_ptsz: wait.call = "cuMemcpyDtoHAsync"; break;
    default: return false;
  }
  wait.thread = thread_number();
  wait.started = trace_now();
  if (data.callbackSite == CUPTI_API_ENTER) {
    const std::uint64_t queue =
        wait.what == Wait::For::Stream ? queue_of(stream, current_device(), per_thread) : 0;
    sources_.waits->began(wait, queue);
  } else {
    sources_.waits->ended(
        wait.thread,
        succeeded(data) ? ProgramWaits::Result::Success : ProgramWaits::Result::Failure,
        wait.started);
  }
  return true;
}

// Begins are reported before the call, because it may allocate memory; ends after it.
void ProgramCallbacks::take_capture(CUpti_CallbackId id, const CUpti_CallbackData& data) {
  switch (id) {
    case CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture:
    case CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture_ptsz: {
      if (data.callbackSite == CUPTI_API_ENTER) return;
      const auto& p = as<cuStreamEndCapture_params>(data.functionParams);
      const std::uint64_t graph =
          succeeded(data) && p.phGraph != nullptr ? number_of(*p.phGraph) : 0;
      return program_.capture_ended(number_of(p.hStream), graph, trace_now());
    }
    default: {  // the stream is the first parameter of every call that begins a capture
      if (data.callbackSite == CUPTI_API_EXIT) return;
      const auto& p = as<cuStreamBeginCapture_params>(data.functionParams);
      const std::uint64_t used = used_memory();
      return program_.capture_began(number_of(p.hStream), used, trace_now());
    }
  }
}

void ProgramCallbacks::take_instantiation(CUpti_CallbackId id, const CUpti_CallbackData& data) {
  Thread& thread = this_thread();
  thread.instantiates = data.callbackSite == CUPTI_API_ENTER;
  if (thread.instantiates) {
    thread.created_exec = nullptr;
    thread.launchers = launchers_of(id, data.functionParams);
    thread.used_before = used_memory();
    thread.instantiation_start = trace_now();
  } else if (succeeded(data) && thread.created_exec != nullptr) {
    program_.instantiation_ended(number_of(thread.created_exec), used_memory());
  }
}

void ProgramCallbacks::take_upload(const CUpti_CallbackData& data, CUgraphExec exec) {
  Thread& thread = this_thread();
  if (program_.is_launched(number_of(exec))) return;
  if (data.callbackSite == CUPTI_API_ENTER) {
    thread.used_before = used_memory();
    thread.upload_start = trace_now();
  } else if (succeeded(data)) {
    const trace::Time now = trace_now();
    program_.uploaded(number_of(exec), now - thread.upload_start,
                      {thread.used_before, used_memory()}, now);
  }
}

void ProgramCallbacks::set_kernel_parameters(CUgraphExec exec, CUgraphNode node,
                                             const CUDA_KERNEL_NODE_PARAMS& parameters) {
  const DriverCalls* const calls = driver();
  if (calls == nullptr) return;
  const std::shared_ptr<const KernelFacts> facts = kernels_.find(*calls, parameters);
  ObservedNode& now = this_thread().changed;
  set_kernel(facts.get(), parameters, now);
  program_.changed(number_of(exec), number_of(node), now, facts ? &facts->kernel : nullptr,
                   trace_now());
}

void ProgramCallbacks::set_parameters(CUgraphExec exec, CUgraphNode node,
                                      const CUgraphNodeParams& p) {
  ObservedNode now;
  switch (p.type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
      return set_kernel_parameters(
          exec, node,
          {p.kernel.func, p.kernel.gridDimX, p.kernel.gridDimY, p.kernel.gridDimZ,
           p.kernel.blockDimX, p.kernel.blockDimY, p.kernel.blockDimZ, p.kernel.sharedMemBytes,
           p.kernel.kernelParams, p.kernel.extra, p.kernel.kern, p.kernel.ctx});
    case CU_GRAPH_NODE_TYPE_MEMCPY: set_copy(p.memcpy.copyParams, now); break;
    case CU_GRAPH_NODE_TYPE_MEMSET:
      now.name = "fill";
      set_fill({p.memset.dst, p.memset.pitch, p.memset.value, p.memset.elementSize, p.memset.width,
                p.memset.height},
               now);
      break;
    default: return;  // the trace contains no parameters of other nodes
  }
  program_.changed(number_of(exec), number_of(node), now, nullptr, trace_now());
}

void ProgramCallbacks::take_update(CUpti_CallbackId id, const CUpti_CallbackData& data) {
  const bool is_newer = id == CUPTI_DRIVER_TRACE_CBID_cuGraphExecUpdate_v2;
  const auto& newer = as<cuGraphExecUpdate_v2_params>(data.functionParams);
  const auto& older = as<cuGraphExecUpdate_params>(data.functionParams);
  const CUgraphExec exec = is_newer ? newer.hGraphExec : older.hGraphExec;
  if (!succeeded(data)) return program_.refused(number_of(exec), cuda_code(data), trace_now());
  const trace::Time began = trace_now();
  if (!program_.reads_update(number_of(exec), began))
    return program_.replaced_unread(number_of(exec), began);
  ObservedGraph graph = read(is_newer ? newer.hGraph : older.hGraph);
  program_.replaced(number_of(exec), std::move(graph), began, trace_now());
}

void ProgramCallbacks::allocated(std::uint64_t address, std::uint64_t bytes,
                                 ProgramMemory::Source source) {
  program_.allocated({address, bytes, source, current_device()}, trace_now());
}

void ProgramCallbacks::take_memory(CUpti_CallbackId id, const void* p) {
  using Source = ProgramMemory::Source;
  switch (id) {
    case CUPTI_DRIVER_TRACE_CBID_cuMemAlloc_v2:
      return allocated(*as<cuMemAlloc_v2_params>(p).dptr, as<cuMemAlloc_v2_params>(p).bytesize,
                       Source::Device);
    case CUPTI_DRIVER_TRACE_CBID_cuMemAllocPitch_v2: {
      const auto& made = as<cuMemAllocPitch_v2_params>(p);
      return allocated(*made.dptr, *made.pPitch * made.Height, Source::Device);
    }
    case CUPTI_DRIVER_TRACE_CBID_cuMemAllocManaged:
      return allocated(*as<cuMemAllocManaged_params>(p).dptr,
                       as<cuMemAllocManaged_params>(p).bytesize, Source::Managed);
    case CUPTI_DRIVER_TRACE_CBID_cuMemAllocAsync:
    case CUPTI_DRIVER_TRACE_CBID_cuMemAllocAsync_ptsz:
      return allocated(*as<cuMemAllocAsync_params>(p).dptr, as<cuMemAllocAsync_params>(p).bytesize,
                       Source::Stream);
    case CUPTI_DRIVER_TRACE_CBID_cuMemAllocFromPoolAsync:
    case CUPTI_DRIVER_TRACE_CBID_cuMemAllocFromPoolAsync_ptsz:
      return allocated(*as<cuMemAllocFromPoolAsync_params>(p).dptr,
                       as<cuMemAllocFromPoolAsync_params>(p).bytesize, Source::Stream);
    case CUPTI_DRIVER_TRACE_CBID_cuMemMap:
      return allocated(as<cuMemMap_params>(p).ptr, as<cuMemMap_params>(p).size, Source::Mapped);
    case CUPTI_DRIVER_TRACE_CBID_cuMemHostAlloc:
    case CUPTI_DRIVER_TRACE_CBID_cuMemHostAlloc_v2:
      return allocated(number_of(*as<cuMemHostAlloc_params>(p).pp),
                       as<cuMemHostAlloc_params>(p).bytesize, Source::PinnedHost);
    case CUPTI_DRIVER_TRACE_CBID_cuMemAllocHost_v2:
      return allocated(number_of(*as<cuMemAllocHost_v2_params>(p).pp),
                       as<cuMemAllocHost_v2_params>(p).bytesize, Source::PinnedHost);
    case CUPTI_DRIVER_TRACE_CBID_cuMemFree_v2:
      return program_.freed(as<cuMemFree_v2_params>(p).dptr, trace_now());
    case CUPTI_DRIVER_TRACE_CBID_cuMemFreeAsync:
    case CUPTI_DRIVER_TRACE_CBID_cuMemFreeAsync_ptsz:
      return program_.freed(as<cuMemFreeAsync_params>(p).dptr, trace_now());
    case CUPTI_DRIVER_TRACE_CBID_cuMemFreeHost:
      return program_.freed(number_of(as<cuMemFreeHost_params>(p).p), trace_now());
    case CUPTI_DRIVER_TRACE_CBID_cuMemUnmap:
      return program_.unmapped(as<cuMemUnmap_params>(p).ptr, as<cuMemUnmap_params>(p).size,
                               trace_now());
    default: return;  // not subscribed
  }
}

}  // namespace reprise::detail
