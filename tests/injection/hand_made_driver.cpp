#include "injection/hand_made_driver.hpp"

#include <cstring>
#include <numeric>

namespace reprise::test {
namespace {

HandMadeNode& node_of(CUgraphNode node) { return *reinterpret_cast<HandMadeNode*>(node); }
HandMadeGraph& graph_of(CUgraph graph) { return *reinterpret_cast<HandMadeGraph*>(graph); }
HandMadeKernel& kernel_of(CUfunction function) {
  return *reinterpret_cast<HandMadeKernel*>(function);
}

std::vector<HandMadeNode*> nodes_of(HandMadeGraph& graph) {
  std::vector<HandMadeNode*> nodes;
  for (HandMadeNode& own : graph.nodes) nodes.push_back(&own);
  nodes.insert(nodes.end(), graph.others.begin(), graph.others.end());
  return nodes;
}

CUresult CUDAAPI get_nodes(CUgraph graph, CUgraphNode* nodes, std::size_t* count) {
  const std::vector<HandMadeNode*> made = nodes_of(graph_of(graph));
  if (nodes == nullptr) {
    *count = made.size();
    return CUDA_SUCCESS;
  }
  for (std::size_t i = 0; i < *count; ++i) nodes[i] = handle_of<CUgraphNode>(*made[i]);
  return CUDA_SUCCESS;
}

CUresult CUDAAPI get_edges(CUgraph graph, CUgraphNode* from, CUgraphNode* to,
                           CUgraphEdgeData* /*data*/, std::size_t* count) {
  const auto& edges = graph_of(graph).edges;
  if (from == nullptr) {
    *count = edges.size();
    return CUDA_SUCCESS;
  }
  const std::vector<HandMadeNode*> made = nodes_of(graph_of(graph));
  for (std::size_t i = 0; i < *count; ++i) {
    from[i] = handle_of<CUgraphNode>(*made[edges[i].first]);
    to[i] = handle_of<CUgraphNode>(*made[edges[i].second]);
  }
  return CUDA_SUCCESS;
}

CUresult CUDAAPI get_parameter(CUfunction function, std::size_t index, std::size_t* offset,
                               std::size_t* size) {
  const HandMadeKernel& kernel = kernel_of(function);
  const auto& bytes = kernel.parameter_bytes;
  if (index >= bytes.size()) return CUDA_ERROR_INVALID_VALUE;
  *offset = kernel.parameter_offsets.empty()
                ? std::accumulate(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(index),
                                  std::size_t{0})
                : kernel.parameter_offsets[index];
  *size = bytes[index];
  return CUDA_SUCCESS;
}

CUresult CUDAAPI get_attribute(int* value, CUfunction_attribute attribute, CUfunction function) {
  const HandMadeKernel& kernel = kernel_of(function);
  *value = attribute == CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES ? kernel.static_shared_bytes
                                                            : kernel.registers;
  return CUDA_SUCCESS;
}

}  // namespace

detail::DriverCalls hand_made_driver() {
  detail::DriverCalls calls;
  calls.cuCtxGetDevice = [](CUdevice* device) { return *device = hand_made_device, CUDA_SUCCESS; };
  calls.cuDeviceGetName = [](char* name, int, CUdevice) {
    return std::strcpy(name, "a GPU by hand"), CUDA_SUCCESS;
  };
  calls.cuDeviceGetUuid = [](CUuuid*, CUdevice) { return CUDA_SUCCESS; };
  calls.cuDeviceTotalMem = [](std::size_t* bytes, CUdevice) {
    return *bytes = 1 << 30, CUDA_SUCCESS;
  };
  calls.cuDeviceGetAttribute = [](int* value, CUdevice_attribute, CUdevice) {
    return *value = 4, CUDA_SUCCESS;
  };
  calls.cuMemGetInfo = [](std::size_t* free, std::size_t* total) {
    *total = 1 << 30;
    *free = *total - hand_made_used_memory;
    return CUDA_SUCCESS;
  };
  calls.cuStreamGetId = [](CUstream, unsigned long long* id) { return *id = 13, CUDA_SUCCESS; };
  calls.cuStreamGetCaptureInfo = [](CUstream, CUstreamCaptureStatus* status, cuuint64_t*,
                                    CUgraph* graph, const CUgraphNode** last,
                                    const CUgraphEdgeData**, std::size_t* count) {
    *status = hand_made_capture.graph == nullptr ? CU_STREAM_CAPTURE_STATUS_NONE
                                                 : CU_STREAM_CAPTURE_STATUS_ACTIVE;
    *graph = hand_made_capture.graph;
    *last = &hand_made_capture.last;
    *count = 1;
    return CUDA_SUCCESS;
  };
  calls.cuThreadExchangeStreamCaptureMode = [](CUstreamCaptureMode*) { return CUDA_SUCCESS; };
  calls.cuGraphGetNodes = &get_nodes;
  calls.cuGraphGetEdges =
      reinterpret_cast<decltype(calls.cuGraphGetEdges)>(reinterpret_cast<void*>(&get_edges));
  calls.cuGraphNodeGetType = [](CUgraphNode node, CUgraphNodeType* type) {
    return *type = node_of(node).type, CUDA_SUCCESS;
  };
  calls.cuGraphKernelNodeGetParams = [](CUgraphNode node, CUDA_KERNEL_NODE_PARAMS* p) {
    return *p = node_of(node).kernel, CUDA_SUCCESS;
  };
  calls.cuGraphMemcpyNodeGetParams = [](CUgraphNode node, CUDA_MEMCPY3D* p) {
    return *p = node_of(node).copy, CUDA_SUCCESS;
  };
  calls.cuGraphMemsetNodeGetParams = [](CUgraphNode node, CUDA_MEMSET_NODE_PARAMS* p) {
    return *p = node_of(node).fill, CUDA_SUCCESS;
  };
  calls.cuGraphMemAllocNodeGetParams = [](CUgraphNode node, CUDA_MEM_ALLOC_NODE_PARAMS* p) {
    return *p = node_of(node).allocation, CUDA_SUCCESS;
  };
  calls.cuGraphChildGraphNodeGetGraph = [](CUgraphNode node, CUgraph* child) {
    return *child = reinterpret_cast<CUgraph>(node_of(node).child), CUDA_SUCCESS;
  };
  calls.cuKernelGetFunction = [](CUfunction*, CUkernel) { return CUDA_ERROR_NOT_FOUND; };
  calls.cuFuncGetName = [](const char** name, CUfunction function) {
    return *name = kernel_of(function).name.c_str(), CUDA_SUCCESS;
  };
  calls.cuFuncGetParamInfo = &get_parameter;
  calls.cuFuncGetAttribute = &get_attribute;
  return calls;
}

}  // namespace reprise::test
