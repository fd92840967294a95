#include "backend/cuda/graph/transfer_nodes.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>

#include "record/payload.hpp"

namespace reprise::detail {
namespace {

// From these sizes on, a kernel is faster where a memcpy node is slow.
constexpr std::uint64_t kMinContiguousBytes = std::uint64_t{2} << 20,
                        kMinPitchedBytes = std::uint64_t{1} << 20, kMinRows = 2048;
// Contiguous copies of other sizes and to other addresses are slow as memcpy nodes, and so are most
// from kMaxNodeBytes on.
constexpr std::uint64_t kNodeUnit = 4096, kAligned = 256, kMaxNodeBytes = std::uint64_t{512} << 20;
constexpr std::uint64_t kCopyThreads = 512;                        // of a block
constexpr std::uint64_t kMaxCount = (std::uint64_t{1} << 31) - 1;  // of units, rows and blocks

// True for copies of several rows that a kernel performs faster.
bool are_many(std::uint64_t rows, std::uint64_t width) {
  return rows >= kMinRows || rows * width >= kMinPitchedBytes;
}

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

TransferRows transfer_rows(const std::byte* address, const Pitch& pitch) noexcept {
  return {reinterpret_cast<unsigned char*>(const_cast<std::byte*>(address)), pitch.row,
          pitch.slice};
}

CopyRows copy_rows(const std::byte* source, std::byte* destination,
                   const CopyShape& shape) noexcept {
  const auto& [width, height, depth] = shape.extent;
  return {transfer_rows(destination, shape.destination), transfer_rows(source, shape.source), width,
          static_cast<unsigned>(height), static_cast<unsigned>(depth)};
}

CopyLaunch::CopyLaunch(const std::byte* source, std::byte* destination,
                       const CopyShape& shape) noexcept {
  CopyShape s = reduce(shape);
  const std::uint64_t rows = s.extent.height * s.extent.depth;
  if (rows == 1) s.source = s.destination = {};  // the distance to a next row does not matter
  rows_ = copy_rows(source, destination, s);
  const std::uint64_t bits = reinterpret_cast<std::uintptr_t>(source) |
                             reinterpret_cast<std::uintptr_t>(destination) | s.source.row |
                             s.source.slice | s.destination.row | s.destination.slice;
  const std::uint64_t unit = std::gcd(bits, std::uint64_t{16});
  // Powers of two of threads share a row, at least as many as it can have bytes behind its units.
  threads_ = static_cast<unsigned>(
      std::bit_ceil(std::clamp((s.extent.width + 15) / 16, std::uint64_t{16}, kCopyThreads)));
  rows_of_block_ = static_cast<unsigned>(kCopyThreads) / threads_;
  const std::uint64_t chunks = (s.extent.width + 16 * threads_ - 1) / (16 * threads_),
                      blocks = (rows + rows_of_block_ - 1) / rows_of_block_ * chunks;
  const std::uint64_t counted = std::max({rows, s.extent.width / unit * rows, blocks});
  if (unit < 4 || counted > kMaxCount) return;
  unit_ = static_cast<unsigned>(unit);
  chunks_ = static_cast<unsigned>(chunks);
  blocks_ = static_cast<unsigned>(blocks);
}

bool CopyLaunch::is_faster() const noexcept {
  if (!is_possible()) return false;
  const std::uint64_t rows = std::uint64_t{rows_.height} * rows_.depth;
  if (rows > 1) return are_many(rows, rows_.width);
  const bool is_slow_node = rows_.width % kNodeUnit != 0 || rows_.width >= kMaxNodeBytes ||
                            reinterpret_cast<std::uintptr_t>(rows_.to.address) % kAligned != 0;
  return is_slow_node && rows_.width >= kMinContiguousBytes;
}

CUDA_KERNEL_NODE_PARAMS CopyLaunch::parameters(CUfunction reprise_copy) noexcept {
  CUDA_KERNEL_NODE_PARAMS made = {};
  made.func = reprise_copy;
  made.gridDimX = blocks_;
  made.blockDimX = threads_;
  made.blockDimY = rows_of_block_;
  made.gridDimY = made.gridDimZ = made.blockDimZ = 1;
  made.kernelParams = arguments_;
  return made;
}

bool is_within_device(const Recording& recording, const CopyPayload& copy) {
  const auto is_on_device = [&](const Endpoint& end) {
    if (end.buffer == kNone) return false;
    const BufferKind kind = recording.buffers[end.buffer]->kind;
    return kind == BufferKind::Device || kind == BufferKind::Transient;
  };
  return is_on_device(copy.source) && is_on_device(copy.destination);
}

bool has_large_copies(const Recording& recording) {
  for (std::uint32_t i = 0; i < recording.commands.size(); ++i) {
    if (recording.commands[i].kind != CommandKind::Copy) continue;
    const auto& copy = recording.payload<CopyPayload>(i);
    const auto& [width, height, depth] = copy.extent;
    if (are_many(height * depth, width) && is_within_device(recording, copy)) return true;
  }
  return std::any_of(recording.bodies.begin(), recording.bodies.end(),
                     [](const auto& body) { return has_large_copies(*body); });
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
