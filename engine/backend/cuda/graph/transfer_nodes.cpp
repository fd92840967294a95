#include "backend/cuda/graph/transfer_nodes.hpp"

namespace reprise::detail {
namespace {

cudaPitchedPtr pitched(const std::byte* address, const Extent& extent, const Pitch& pitch) {
  const std::uint64_t rows_of_slice = extent.depth > 1 ? pitch.slice / pitch.row : extent.height;
  return {const_cast<std::byte*>(address), pitch.row, extent.width, rows_of_slice};
}

cudaMemcpy3DParms pitched_copy(const std::byte* source, std::byte* destination,
                               const CopyShape& shape) {
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = pitched(source, shape.extent, shape.source);
  copy.dstPtr = pitched(destination, shape.extent, shape.destination);
  copy.extent = {shape.extent.width, shape.extent.height, shape.extent.depth};
  copy.kind = cudaMemcpyDefault;
  return copy;
}

cudaMemsetParams memset_of(std::byte* destination, const FillPayload& fill) {
  const bool dense = fill.extent.height == 1 || fill.pitch.row == fill.extent.width;
  cudaMemsetParams set = {};
  set.dst = destination;
  set.elementSize = fill.element_bytes;
  set.value = fill.bits;
  set.width =
      (dense ? fill.extent.width * fill.extent.height : fill.extent.width) / fill.element_bytes;
  set.height = dense ? 1 : fill.extent.height;
  set.pitch = dense ? 0 : fill.pitch.row;
  return set;
}

cudaGraphNode_t add_pitched(const NodeContext& context, const std::byte* source,
                            std::byte* destination, const CopyShape& shape) {
  const cudaMemcpy3DParms copy = pitched_copy(source, destination, shape);
  cudaGraphNode_t node = nullptr;
  cuda_check(cudaGraphAddMemcpyNode(&node, context.graph, context.after.data(),
                                    context.after.size(), &copy),
             "cudaGraphAddMemcpyNode", context.call);
  return node;
}

}  // namespace

CopyShape reduce(const CopyShape& shape) noexcept {
  CopyShape s = shape;
  if (s.extent.height == 1 && s.extent.depth > 1) {  // slices of one row become rows
    s = {{s.extent.width, s.extent.depth, 1}, {s.source.slice, 0}, {s.destination.slice, 0}};
  } else if (s.extent.depth > 1 && s.source.slice == s.source.row * s.extent.height &&
             s.destination.slice == s.destination.row * s.extent.height) {
    s.extent = {s.extent.width, s.extent.height * s.extent.depth, 1};
  }
  if (s.extent.depth == 1 && s.source.row == s.extent.width &&
      s.destination.row == s.extent.width) {
    s.extent = {s.extent.width * s.extent.height, 1, 1};
  }
  return s;
}

cudaGraphNode_t add_copy(const NodeContext& context, const std::byte* source,
                         std::byte* destination, const CopyShape& shape) {
  const CopyShape s = reduce(shape);
  if (s.extent.height == 1 && s.extent.depth == 1) {
    cudaGraphNode_t node = nullptr;
    cuda_check(
        cudaGraphAddMemcpyNode1D(&node, context.graph, context.after.data(), context.after.size(),
                                 destination, source, s.extent.width, cudaMemcpyDefault),
        "cudaGraphAddMemcpyNode1D", context.call);
    return node;
  }
  return add_pitched(context, source, destination, s);
}

cudaGraphNode_t add_fill(const NodeContext& context, std::byte* destination,
                         const FillPayload& fill) {
  const cudaMemsetParams set = memset_of(destination, fill);
  cudaGraphNode_t node = nullptr;
  cuda_check(cudaGraphAddMemsetNode(&node, context.graph, context.after.data(),
                                    context.after.size(), &set),
             "cudaGraphAddMemsetNode", context.call);
  return node;
}

cudaError_t set_copy(cudaGraphExec_t exec, cudaGraphNode_t node, const std::byte* source,
                     std::byte* destination, const CopyShape& shape) {
  const CopyShape s = reduce(shape);
  if (s.extent.height == 1 && s.extent.depth == 1) {
    if (exec == nullptr)
      return cudaGraphMemcpyNodeSetParams1D(node, destination, source, s.extent.width,
                                            cudaMemcpyDefault);
    return cudaGraphExecMemcpyNodeSetParams1D(exec, node, destination, source, s.extent.width,
                                              cudaMemcpyDefault);
  }
  const cudaMemcpy3DParms copy = pitched_copy(source, destination, s);
  return exec == nullptr ? cudaGraphMemcpyNodeSetParams(node, &copy)
                         : cudaGraphExecMemcpyNodeSetParams(exec, node, &copy);
}

cudaError_t set_fill(cudaGraphExec_t exec, cudaGraphNode_t node, std::byte* destination,
                     const FillPayload& fill) {
  const cudaMemsetParams set = memset_of(destination, fill);
  return exec == nullptr ? cudaGraphMemsetNodeSetParams(node, &set)
                         : cudaGraphExecMemsetNodeSetParams(exec, node, &set);
}

// CUDA refuses to change the shape of a memset of several rows.
cudaError_t set_unused_fill(cudaGraphExec_t exec, cudaGraphNode_t node, std::byte* unused,
                            const FillPayload& fill) {
  cudaMemsetParams set = memset_of(unused, fill);
  if (set.height == 1) set.width = 1;
  return cudaGraphExecMemsetNodeSetParams(exec, node, &set);
}

std::uint64_t unused_fill_bytes(const FillPayload& fill) noexcept {
  const cudaMemsetParams set = memset_of(nullptr, fill);
  return set.height == 1 ? set.elementSize : set.pitch * set.height;
}

}  // namespace reprise::detail
