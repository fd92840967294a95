#include "injection/driver_node_reader.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <vector>

#include "base/text.hpp"

namespace reprise::detail {
namespace {

ObservedNode plain(trace::NodeKind kind, const char* name) {
  ObservedNode node;
  node.kind = kind;
  node.name = name;
  return node;
}

// Adds every word that can be an address.
void add_guesses(const std::byte* bytes, std::size_t size, ObservedNode& node) {
  constexpr std::uint64_t kLowest = 1 << 16;
  for (std::size_t at = 0; at + sizeof(std::uint64_t) <= size; at += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes + at, sizeof word);
    if (word >= kLowest)
      node.accesses.push_back({word, 0, trace::Access::ReadWrite, ObservedAccess::Origin::Guessed});
  }
}

const char* side(CUmemorytype type) {
  switch (type) {
    case CU_MEMORYTYPE_HOST: return "host";
    case CU_MEMORYTYPE_DEVICE: return "device";
    case CU_MEMORYTYPE_ARRAY: return "array";
    case CU_MEMORYTYPE_UNIFIED: return "memory";
  }
  return "memory";
}

struct CopySide {
  CUmemorytype type;
  const void* host;
  CUdeviceptr device;
  std::size_t x, y, z, pitch, height;
};

void add_side(const CopySide& side, const CUDA_MEMCPY3D& p, trace::Access access,
              ObservedNode& node) {
  if (side.type == CU_MEMORYTYPE_ARRAY) return;  // arrays have no address
  const std::uint64_t base =
      side.type == CU_MEMORYTYPE_HOST ? reinterpret_cast<std::uintptr_t>(side.host) : side.device;
  const std::size_t rows = std::max<std::size_t>(p.Height, 1),
                    slices = std::max<std::size_t>(p.Depth, 1);
  const std::uint64_t address = base + (side.z * side.height + side.y) * side.pitch + side.x;
  const std::uint64_t span = ((slices - 1) * side.height + rows - 1) * side.pitch + p.WidthInBytes;
  node.accesses.push_back({address, span, access, ObservedAccess::Origin::Stated});
}

}  // namespace

void set_kernel(const KernelFacts* facts, const CUDA_KERNEL_NODE_PARAMS& p, ObservedNode& node) {
  node.grid[0] = p.gridDimX, node.grid[1] = p.gridDimY, node.grid[2] = p.gridDimZ;
  node.block[0] = p.blockDimX, node.block[1] = p.blockDimY, node.block[2] = p.blockDimZ;
  node.shared_bytes = p.sharedMemBytes;
  node.recorded = ObservedNode::Recorded::EachReplay;
  node.accesses.clear();
  if (facts != nullptr) node.accesses.reserve(facts->words);
  if (p.kernelParams != nullptr && facts != nullptr) {
    for (std::size_t i = 0; i < facts->parameters.size(); ++i) {
      const auto [offset, size] = facts->parameters[i];
      const auto* const bytes = static_cast<const std::byte*>(p.kernelParams[i]);
      // Pointers are aligned to their size, relative to the first parameter.
      const std::size_t skip = (sizeof(void*) - offset % sizeof(void*)) % sizeof(void*);
      if (bytes != nullptr && size > skip) add_guesses(bytes + skip, size - skip, node);
    }
  } else if (p.extra != nullptr) {
    const void* bytes = nullptr;
    std::size_t size = 0;
    for (std::size_t i = 0; p.extra[i] != CU_LAUNCH_PARAM_END; i += 2) {
      if (p.extra[i] == CU_LAUNCH_PARAM_BUFFER_POINTER) bytes = p.extra[i + 1];
      if (p.extra[i] == CU_LAUNCH_PARAM_BUFFER_SIZE)
        size = *static_cast<const std::size_t*>(p.extra[i + 1]);
    }
    if (bytes != nullptr) add_guesses(static_cast<const std::byte*>(bytes), size, node);
  }
}

void set_copy(const CUDA_MEMCPY3D& p, ObservedNode& node) {
  node.name = concat("copy ", side(p.srcMemoryType), " to ", side(p.dstMemoryType));
  node.bytes =
      p.WidthInBytes * std::max<std::size_t>(p.Height, 1) * std::max<std::size_t>(p.Depth, 1);
  const bool is_host_work =
      p.srcMemoryType == CU_MEMORYTYPE_HOST && p.dstMemoryType == CU_MEMORYTYPE_HOST;
  node.recorded = is_host_work || node.bytes == 0 ? ObservedNode::Recorded::Sometimes
                                                  : ObservedNode::Recorded::EachReplay;
  node.accesses.clear();
  add_side({p.srcMemoryType, p.srcHost, p.srcDevice, p.srcXInBytes, p.srcY, p.srcZ, p.srcPitch,
            p.srcHeight},
           p, trace::Access::Read, node);
  add_side({p.dstMemoryType, p.dstHost, p.dstDevice, p.dstXInBytes, p.dstY, p.dstZ, p.dstPitch,
            p.dstHeight},
           p, trace::Access::Write, node);
}

void set_fill(const CUDA_MEMSET_NODE_PARAMS& p, ObservedNode& node) {
  const std::size_t rows = std::max<std::size_t>(p.height, 1), width = p.width * p.elementSize;
  node.bytes = width * rows;
  node.recorded = ObservedNode::Recorded::EachReplay;
  node.accesses.assign(1, {p.dst, (rows - 1) * p.pitch + width, trace::Access::Write,
                           ObservedAccess::Origin::Stated});
}

ObservedNode DriverNodeReader::kernel(const CUDA_KERNEL_NODE_PARAMS& p) {
  ObservedNode node = plain(trace::NodeKind::Dispatch, "kernel");
  const std::shared_ptr<const KernelFacts> facts = cache_.find(driver_, p);
  set_kernel(facts.get(), p, node);
  if (!facts) return node;
  const auto [at, is_new] =
      kernels_.try_emplace(facts.get(), static_cast<std::uint32_t>(graph_.kernels.size()));
  if (is_new) graph_.kernels.push_back(facts->kernel);
  node.kernel = at->second;
  return node;
}

ObservedNode DriverNodeReader::read(CUgraphNode node, CUgraphNodeType type) {
  switch (type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: {
      CUDA_KERNEL_NODE_PARAMS p = {};
      if (driver_.cuGraphKernelNodeGetParams(node, &p) == CUDA_SUCCESS) return kernel(p);
      return plain(trace::NodeKind::Dispatch, "kernel");
    }
    case CU_GRAPH_NODE_TYPE_MEMCPY: {
      CUDA_MEMCPY3D p = {};
      ObservedNode observed = plain(trace::NodeKind::Copy, "copy");
      observed.recorded = ObservedNode::Recorded::Sometimes;
      if (driver_.cuGraphMemcpyNodeGetParams(node, &p) == CUDA_SUCCESS) set_copy(p, observed);
      return observed;
    }
    case CU_GRAPH_NODE_TYPE_MEMSET: {
      CUDA_MEMSET_NODE_PARAMS p = {};
      ObservedNode observed = plain(trace::NodeKind::Fill, "fill");
      if (driver_.cuGraphMemsetNodeGetParams(node, &p) == CUDA_SUCCESS) set_fill(p, observed);
      return observed;
    }
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC: {
      ObservedNode observed = plain(trace::NodeKind::Other, "allocate");
      CUDA_MEM_ALLOC_NODE_PARAMS p = {};
      if (driver_.cuGraphMemAllocNodeGetParams(node, &p) != CUDA_SUCCESS) return observed;
      observed.bytes = p.bytesize;
      observed.allocates = p.dptr;
      observed.accesses.push_back(
          {p.dptr, p.bytesize, trace::Access::Write, ObservedAccess::Origin::Stated});
      return observed;
    }
    case CU_GRAPH_NODE_TYPE_MEM_FREE: return plain(trace::NodeKind::Other, "free");
    case CU_GRAPH_NODE_TYPE_HOST: return plain(trace::NodeKind::Host, "host function");
    case CU_GRAPH_NODE_TYPE_EMPTY: return plain(trace::NodeKind::Join, "empty");
    case CU_GRAPH_NODE_TYPE_GRAPH: return plain(trace::NodeKind::Child, "child graph");
    case CU_GRAPH_NODE_TYPE_CONDITIONAL: return plain(trace::NodeKind::Conditional, "conditional");
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD: return plain(trace::NodeKind::Other, "record event");
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT: return plain(trace::NodeKind::Other, "wait for event");
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
      return plain(trace::NodeKind::Other, "signal semaphores");
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT:
      return plain(trace::NodeKind::Other, "wait for semaphores");
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP: return plain(trace::NodeKind::Other, "memory operations");
    default: return plain(trace::NodeKind::Other, "node");  // CUDA's enumeration has further kinds
  }
}

}  // namespace reprise::detail
