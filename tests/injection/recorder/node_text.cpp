#include "injection/recorder/node_text.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/text.hpp"

namespace reprise::test {
namespace {

using detail::concat;

constexpr std::uint64_t kLowest = 1 << 16,
                        kHighest = std::uint64_t{1} << 48;  // range of words that may be addresses

std::string hex(std::uint64_t value) {
  char text[20];
  std::snprintf(text, sizeof text, "%llx", static_cast<unsigned long long>(value));
  return text;
}

struct Side {
  CUmemorytype type;
  const void* host;
  CUdeviceptr device;
  std::size_t x, y, z, pitch, height;
};

std::string text_of(const Side& side) {
  const std::uint64_t base =
      side.type == CU_MEMORYTYPE_HOST ? reinterpret_cast<std::uintptr_t>(side.host) : side.device;
  return concat(static_cast<int>(side.type), " ", hex(base), " ", side.x, " ", side.y, " ", side.z,
                " ", side.pitch, " ", side.height);
}

}  // namespace

std::string NodeText::kernel(const CUDA_KERNEL_NODE_PARAMS& p) const {
  CUfunction function = p.func;
  if (function == nullptr) static_cast<void>(driver_.cuKernelGetFunction(&function, p.kern));
  const char* name = nullptr;
  if (function == nullptr || driver_.cuFuncGetName(&name, function) != CUDA_SUCCESS)
    return "other 0";
  int registers = 0, shared = 0;
  static_cast<void>(driver_.cuFuncGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, function));
  static_cast<void>(
      driver_.cuFuncGetAttribute(&shared, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function));
  std::string layout, words;
  std::size_t offset = 0, size = 0;
  for (std::size_t i = 0; driver_.cuFuncGetParamInfo(function, i, &offset, &size) == CUDA_SUCCESS;
       ++i) {
    layout += concat(layout.empty() ? "" : ",", offset, ":", size);
    if (p.kernelParams == nullptr || p.kernelParams[i] == nullptr) continue;
    const auto* const bytes = static_cast<const char*>(p.kernelParams[i]);
    for (std::size_t at = (8 - offset % 8) % 8; at + 8 <= size; at += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes + at, 8);
      if (word >= kLowest && word < kHighest) words += concat(" ", i, ".", at, "=", hex(word));
    }
  }
  const std::uint32_t number =
      log_.kernel(name, concat(registers, " ", shared, " ", layout.empty() ? "-" : layout));
  return concat("kernel ", number, " ", p.gridDimX, " ", p.gridDimY, " ", p.gridDimZ, " ",
                p.blockDimX, " ", p.blockDimY, " ", p.blockDimZ, " ", p.sharedMemBytes, words);
}

std::string NodeText::copy(const CUDA_MEMCPY3D& p) {
  return concat("copy ",
                text_of({p.srcMemoryType, p.srcHost, p.srcDevice, p.srcXInBytes, p.srcY, p.srcZ,
                         p.srcPitch, p.srcHeight}),
                " ",
                text_of({p.dstMemoryType, p.dstHost, p.dstDevice, p.dstXInBytes, p.dstY, p.dstZ,
                         p.dstPitch, p.dstHeight}),
                " ", p.WidthInBytes, " ", p.Height, " ", p.Depth);
}

std::string NodeText::fill(const CUDA_MEMSET_NODE_PARAMS& p) {
  return concat("fill ", hex(p.dst), " ", p.pitch, " ", p.value, " ", p.elementSize, " ", p.width,
                " ", p.height);
}

std::string NodeText::node(CUgraphNode node, const std::string& thread, std::string& before) const {
  CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
  static_cast<void>(driver_.cuGraphNodeGetType(node, &type));
  CUDA_KERNEL_NODE_PARAMS of_kernel = {};
  CUDA_MEMCPY3D of_copy = {};
  CUDA_MEMSET_NODE_PARAMS of_fill = {};
  CUDA_MEM_ALLOC_NODE_PARAMS of_allocation = {};
  CUgraph child = nullptr;
  if (type == CU_GRAPH_NODE_TYPE_KERNEL &&
      driver_.cuGraphKernelNodeGetParams(node, &of_kernel) == CUDA_SUCCESS)
    return kernel(of_kernel);
  if (type == CU_GRAPH_NODE_TYPE_MEMCPY &&
      driver_.cuGraphMemcpyNodeGetParams(node, &of_copy) == CUDA_SUCCESS)
    return copy(of_copy);
  if (type == CU_GRAPH_NODE_TYPE_MEMSET &&
      driver_.cuGraphMemsetNodeGetParams(node, &of_fill) == CUDA_SUCCESS)
    return fill(of_fill);
  if (type == CU_GRAPH_NODE_TYPE_MEM_ALLOC &&
      driver_.cuGraphMemAllocNodeGetParams(node, &of_allocation) == CUDA_SUCCESS) {
    return concat("allocate ", hex(of_allocation.dptr), " ", of_allocation.bytesize);
  }
  if (type == CU_GRAPH_NODE_TYPE_GRAPH &&
      driver_.cuGraphChildGraphNodeGetGraph(node, &child) == CUDA_SUCCESS) {
    before += graph(child, thread);
    return concat("child ",
                  log_.number(CallLog::Kind::Graph, reinterpret_cast<std::uintptr_t>(child)));
  }
  if (type == CU_GRAPH_NODE_TYPE_CONDITIONAL) {
    for (const CUgraph body : bodies_(node)) before += graph(body, thread);
  }
  return concat("other ", static_cast<int>(type));
}

std::string NodeText::graph(CUgraph graph, const std::string& thread) const {
  detail::NativeGraph read;
  static_cast<void>(driver_.read_graph(graph, read));
  std::string before,
      lines =
          concat(thread, "graph ",
                 log_.number(CallLog::Kind::Graph, reinterpret_cast<std::uintptr_t>(graph)), "\n");
  for (const CUgraphNode one : read.nodes) {
    std::uint64_t id = 0;
    const bool has_id = cupti_.node_id(one, &id) == CUPTI_SUCCESS;
    lines += concat(thread, "node ",
                    log_.number(CallLog::Kind::Node, reinterpret_cast<std::uintptr_t>(one)), " ",
                    has_id ? static_cast<std::uint32_t>(id) : 0xffffffffu, " ",
                    node(one, thread, before), "\n");
  }
  for (const detail::DirectedEdge& edge : read.edges)
    lines += concat(thread, "edge ", edge.from, " ", edge.to, "\n");
  return before + lines;
}

}  // namespace reprise::test
