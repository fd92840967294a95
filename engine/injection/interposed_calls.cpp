#include "injection/interposed_calls.hpp"

#include "injection/callback_data.hpp"

namespace reprise::detail {

namespace {

// The stream of a launch, whose parameters begin alike, as calls without streams per thread
// understand it.
CUstream stream_of(CUpti_CallbackId call, const void* p) {
  const auto per_thread = [](CUstream stream) {
    return stream == nullptr ? CU_STREAM_PER_THREAD : stream;
  };
  switch (call) {
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx:
      return as<cuLaunchKernelEx_params>(p).config->hStream;
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz:
      return per_thread(as<cuLaunchKernelEx_params>(p).config->hStream);
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel:
      return as<cuLaunchCooperativeKernel_params>(p).hStream;
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz:
      return per_thread(as<cuLaunchCooperativeKernel_params>(p).hStream);
    case CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch: return as<cuGraphLaunch_params>(p).hStream;
    case CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz:
      return per_thread(as<cuGraphLaunch_params>(p).hStream);
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz:
      return per_thread(as<cuLaunchKernel_params>(p).hStream);
    default: return as<cuLaunchKernel_params>(p).hStream;
  }
}

}  // namespace

void InterposedCalls::take(CUpti_CallbackId call, const void* parameters,
                           const CUresult* result) noexcept {
  const bool is_success = result != nullptr && *result == CUDA_SUCCESS;
  switch (call) {
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz:
      if (is_success) captured(stream_of(call, parameters));
      return;
    case CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch:
    case CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz:
      if (is_success) captured(stream_of(call, parameters));
      break;
    default:
      if (is_success) created(call, parameters);
      if (result == nullptr) destroyed(call, parameters);
  }
  CUpti_CallbackData data = {};
  data.functionParams = parameters;
  data.callbackSite = result == nullptr ? CUPTI_API_ENTER : CUPTI_API_EXIT;
  CUresult returned = result == nullptr ? CUDA_SUCCESS : *result;
  if (result != nullptr) data.functionReturnValue = &returned;
  callbacks_.take(CUPTI_CB_DOMAIN_DRIVER_API, call, &data);
}

void InterposedCalls::created(CUpti_CallbackId call, const void* p) {
  CUpti_GraphData graph = {};
  switch (call) {
    case CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2:
    case CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2_ptsz:
    case CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCaptureToGraph:
    case CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCaptureToGraph_ptsz: ++captures_; return;
    case CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture:
    case CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture_ptsz: --captures_; return;
    case CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithFlags:
    case CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithParams:
    case CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithParams_ptsz: {
      const auto& made = as<cuGraphInstantiateWithFlags_params>(p);  // those of all begin alike
      graph.graph = made.hGraph;
      graph.graphExec = *made.phGraphExec;
      return resource(CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED, graph);
    }
    case CUPTI_DRIVER_TRACE_CBID_cuGraphAddKernelNode:
    case CUPTI_DRIVER_TRACE_CBID_cuGraphAddKernelNode_v2:
    case CUPTI_DRIVER_TRACE_CBID_cuGraphAddNode:
    case CUPTI_DRIVER_TRACE_CBID_cuGraphAddNode_v2: {
      const auto& made = as<cuGraphAddKernelNode_params>(p);  // those of all begin alike
      graph.graph = made.hGraph;
      graph.node = *made.phGraphNode;
      return resource(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, graph);
    }
    default: return;
  }
}

void InterposedCalls::destroyed(CUpti_CallbackId call, const void* p) {
  CUpti_GraphData graph = {};
  switch (call) {
    case CUPTI_DRIVER_TRACE_CBID_cuGraphExecDestroy:
      graph.graphExec = as<cuGraphExecDestroy_params>(p).hGraphExec;
      return resource(CUPTI_CBID_RESOURCE_GRAPHEXEC_DESTROY_STARTING, graph);
    case CUPTI_DRIVER_TRACE_CBID_cuGraphDestroyNode:
      graph.node = as<cuGraphDestroyNode_params>(p).hNode;
      return resource(CUPTI_CBID_RESOURCE_GRAPHNODE_DESTROY_STARTING, graph);
    case CUPTI_DRIVER_TRACE_CBID_cuGraphDestroy:
      graph.graph = as<cuGraphDestroy_params>(p).hGraph;
      return resource(CUPTI_CBID_RESOURCE_GRAPH_DESTROY_STARTING, graph);
    case CUPTI_DRIVER_TRACE_CBID_cuStreamDestroy_v2: {
      CUpti_ResourceData data = {};
      data.resourceHandle.stream = as<cuStreamDestroy_v2_params>(p).hStream;
      return callbacks_.take(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING,
                             &data);
    }
    default: return;
  }
}

void InterposedCalls::captured(CUstream stream) {
  if (captures_.load(std::memory_order_relaxed) <= 0) return;
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  const CUgraphNode* last = nullptr;  // the nodes that the stream's next node will depend on
  std::size_t count = 0;
  CUpti_GraphData graph = {};
  if (driver_.cuStreamGetCaptureInfo(stream, &status, nullptr, &graph.graph, &last, nullptr,
                                     &count) != CUDA_SUCCESS ||
      status != CU_STREAM_CAPTURE_STATUS_ACTIVE || count != 1)
    return;
  graph.node = last[0];
  resource(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, graph);
}

void InterposedCalls::resource(CUpti_CallbackId id, CUpti_GraphData graph) {
  CUpti_ResourceData data = {};
  data.resourceDescriptor = &graph;
  callbacks_.take(CUPTI_CB_DOMAIN_RESOURCE, id, &data);
}

SetCallHook find_interposer() {
  const GetProcAddress find = driver_search().find;
  void* found = nullptr;
  const bool is_found =
      find != nullptr && find(kSetCallHook, &found, CUDA_VERSION, CU_GET_PROC_ADDRESS_DEFAULT,
                              nullptr) == CUDA_SUCCESS;
  return is_found ? reinterpret_cast<SetCallHook>(found) : nullptr;
}

}  // namespace reprise::detail
