#include "backend/cuda/native/graph_reader.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "backend/cuda/native/native_kernel.hpp"
#include "backend/cuda/native/native_nodes.hpp"
#include "backend/cuda/native/native_op.hpp"
#include "record/geometry.hpp"

namespace reprise::detail {
namespace {

// One side of a memcpy node, for any kind of memory.
struct CopyEnd {
  CUmemorytype type = CU_MEMORYTYPE_HOST;
  const void* host = nullptr;
  CUdeviceptr device = 0;
  CUarray array = nullptr;
  std::size_t x = 0, y = 0, z = 0, pitch = 0, height = 0;
};

class Reader {
 public:
  Reader(const CudaContext& context, Recording& recording, const BufferFinder& finder)
      : context_(context),
        recording_(recording),
        arena_(std::make_shared<Arena>()),
        memory_(context, recording, finder),
        ops_(context) {
    recording_.arenas.push_back(arena_);
  }

  void read(const NativeNodes& nodes) {
    for (const NativeNodes::Group& group : nodes.groups)
      recording_.labels.push_back({group.parent, group.name, {}});
    recording_.commands.reserve(nodes.nodes.size());
    for (const NativeNode& node : nodes.nodes) add(node);
    for (auto& kernel : kernels_)
      recording_.kernels.push_back(std::make_shared<const KernelCore>(std::move(kernel)));
  }

 private:
  void add(const NativeNode& node) {
    const auto first_access = static_cast<std::uint32_t>(recording_.accesses.size());
    Command command = read_node(node);
    command.label = node.group;
    command.first_access = first_access;
    command.access_count = static_cast<std::uint32_t>(recording_.accesses.size()) - first_access;
    recording_.commands.push_back(command);
  }

  Command read_node(const NativeNode& node) {
    switch (node.type) {
      case CU_GRAPH_NODE_TYPE_KERNEL:
        if (const auto* payload = kernel(node.node))
          return {.kind = CommandKind::Dispatch, .payload = payload, .where = {}};
        break;
      case CU_GRAPH_NODE_TYPE_MEMCPY:
        if (const auto* payload = memcpy(node.node))
          return {.kind = CommandKind::Copy, .payload = payload, .where = {}};
        break;
      case CU_GRAPH_NODE_TYPE_MEMSET:
        if (const auto* payload = memset(node.node))
          return {.kind = CommandKind::Fill, .payload = payload, .where = {}};
        break;
      case CU_GRAPH_NODE_TYPE_HOST:
        if (const auto* payload = host(node.node))
          return {.kind = CommandKind::Host, .payload = payload, .where = {}};
        break;
      case CU_GRAPH_NODE_TYPE_EMPTY:
        return {
            .kind = CommandKind::Barrier, .payload = arena_->make<BarrierPayload>(), .where = {}};
      default: break;
    }
    recording_.ops.push_back(ops_.make(node));
    const auto index = static_cast<std::uint32_t>(recording_.ops.size() - 1);
    return {.kind = CommandKind::Op,
            .payload = arena_->make<OpPayload>(index, 0u, nullptr),
            .where = {}};
  }

  // --- Kernels ---
  std::uint32_t kernel_index(CUfunction function) {
    const auto [at, is_new] =
        kernel_of_.try_emplace(function, static_cast<std::uint32_t>(kernels_.size()));
    if (is_new) {
      kernels_.push_back(native_kernel(context_, function));
      kernels_.back().device = recording_.device;
      kernels_.back().generation = recording_.generation;
    }
    return at->second;
  }

  const DispatchPayload* kernel(CUgraphNode node) {
    CUDA_KERNEL_NODE_PARAMS p = {};
    if (context_.driver.cuGraphKernelNodeGetParams(node, &p) != CUDA_SUCCESS) return nullptr;
    const CUfunction function = native_kernel_function(context_, p);
    if (function == nullptr) return nullptr;
    const std::uint32_t index = kernel_index(function);
    KernelCore& core = kernels_[index];
    std::vector<std::byte> block = native_parameters(p, core);
    const std::vector<BufferArgument> arguments = extract_addresses(core, block);

    auto* payload = arena_->make<DispatchPayload>();
    payload->kernel = index;
    payload->grid = {p.gridDimX, p.gridDimY, p.gridDimZ};
    payload->block = {p.blockDimX, p.blockDimY, p.blockDimZ};
    payload->cluster = cluster_of(node);
    payload->shared_bytes = p.sharedMemBytes;
    payload->launch =
        is_cooperative(node) ? DispatchDesc::Launch::Cooperative : DispatchDesc::Launch::Normal;
    payload->parameter_bytes = core.parameter_bytes;
    payload->parameters = arena_->copy_bytes(block.data(), block.size());
    payload->buffer_argument_count = static_cast<std::uint32_t>(arguments.size());
    payload->buffer_arguments = arena_->make_array<BufferArgument>(arguments.size());
    std::copy(arguments.begin(), arguments.end(), payload->buffer_arguments);
    return payload;
  }

  // Turns addresses of known memory into buffer arguments and accesses, and zeroes their words in
  // the block, as in a recorded dispatch. Addresses may lie inside larger parameters.
  std::vector<BufferArgument> extract_addresses(KernelCore& core, std::vector<std::byte>& block) {
    std::vector<BufferArgument> arguments;
    for (KernelParameter& parameter : core.parameters) {
      constexpr std::uint32_t kWord = sizeof(void*);
      const std::uint32_t first = (parameter.offset + kWord - 1) / kWord * kWord,
                          end = parameter.offset + parameter.size;
      for (std::uint32_t at = first; at + kWord <= end; at += kWord) {
        const void* address = nullptr;
        std::memcpy(&address, block.data() + at, kWord);
        const auto location = memory_.find(address);
        if (!location) continue;
        std::memset(block.data() + at, 0, kWord);
        arguments.push_back({at, location->buffer, location->offset});
        recording_.accesses.push_back({location->buffer, Access::ReadWrite, 0, location->offset,
                                       location->offset + location->remaining});
        if (parameter.size == kWord) parameter.is_pointer = true;
      }
    }
    return arguments;
  }

  [[nodiscard]] std::optional<Dim3> cluster_of(CUgraphNode node) const {
    CUlaunchAttributeValue value = {};
    if (context_.driver.cuGraphKernelNodeGetAttribute(node, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                                                      &value) != CUDA_SUCCESS)
      return std::nullopt;
    if (value.clusterDim.x == 0) return std::nullopt;
    return Dim3{value.clusterDim.x, value.clusterDim.y, value.clusterDim.z};
  }
  [[nodiscard]] bool is_cooperative(CUgraphNode node) const {
    CUlaunchAttributeValue value = {};
    return context_.driver.cuGraphKernelNodeGetAttribute(node, CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
                                                         &value) == CUDA_SUCCESS &&
           value.cooperative != 0;
  }

  // --- Copies, fills, callbacks ---
  const CopyPayload* memcpy(CUgraphNode node) {
    CUDA_MEMCPY3D p = {};
    if (context_.driver.cuGraphMemcpyNodeGetParams(node, &p) != CUDA_SUCCESS) return nullptr;
    auto* payload = arena_->make<CopyPayload>();
    payload->extent = {p.WidthInBytes, std::max<std::size_t>(p.Height, 1),
                       std::max<std::size_t>(p.Depth, 1)};
    const CopyEnd from{p.srcMemoryType, p.srcHost, p.srcDevice, p.srcArray, p.srcXInBytes,
                       p.srcY,          p.srcZ,    p.srcPitch,  p.srcHeight};
    const CopyEnd to{p.dstMemoryType, p.dstHost, p.dstDevice, p.dstArray, p.dstXInBytes,
                     p.dstY,          p.dstZ,    p.dstPitch,  p.dstHeight};
    if (!read_end(from, payload->extent, Access::Read, payload->source, payload->source_pitch))
      return nullptr;
    if (!read_end(to, payload->extent, Access::Write, payload->destination,
                  payload->destination_pitch))
      return nullptr;
    return payload;
  }

  bool read_end(const CopyEnd& end, const Extent& extent, Access access, Endpoint& endpoint,
                Pitch& pitch) {
    endpoint.lifetime = HostBytes::Lifetime::Borrowed;
    const bool is_array = end.type == CU_MEMORYTYPE_ARRAY;
    if (!is_array && extent.height > 1) pitch.row = end.pitch;
    if (!is_array && extent.depth > 1) pitch.slice = end.pitch * end.height;
    if (extent.width == 0 || normalise(extent, pitch) != PitchFault::None) return false;
    const std::optional<std::uint64_t> span = span_bytes(extent, pitch);
    if (!span) return false;
    if (is_array) {
      endpoint.buffer = memory_.array(end.array, *span);
    } else {
      const std::byte* const base = end.type == CU_MEMORYTYPE_HOST
                                        ? static_cast<const std::byte*>(end.host)
                                        : reinterpret_cast<const std::byte*>(end.device);
      const std::byte* const address =
          base + end.z * end.pitch * end.height + end.y * end.pitch + end.x;
      auto location = memory_.find(address);
      if (!location && end.type == CU_MEMORYTYPE_DEVICE)
        location = memory_.find_device(address, *span);
      if (!location) {
        endpoint.host = const_cast<std::byte*>(address);
        return true;  // pageable host memory: not a buffer
      }
      endpoint.buffer = location->buffer;
      endpoint.offset = location->offset;
    }
    add_access(endpoint.buffer, access, endpoint.offset, extent, pitch);
    return true;
  }

  const FillPayload* memset(CUgraphNode node) {
    CUDA_MEMSET_NODE_PARAMS p = {};
    if (context_.driver.cuGraphMemsetNodeGetParams(node, &p) != CUDA_SUCCESS) return nullptr;
    const Extent extent{p.width * p.elementSize, std::max<std::size_t>(p.height, 1), 1};
    Pitch pitch;
    if (extent.height > 1) pitch.row = p.pitch;
    if (extent.width == 0 || normalise(extent, pitch) != PitchFault::None) return nullptr;
    const NativeMemory::Location location =
        memory_.find_device(reinterpret_cast<const void*>(p.dst), *span_bytes(extent, pitch));
    const std::uint32_t bits =
        p.elementSize < sizeof p.value ? p.value & ((1u << 8 * p.elementSize) - 1) : p.value;
    auto* payload = arena_->make<FillPayload>();
    *payload = {location.buffer, location.offset, bits, p.elementSize, extent, pitch};
    add_access(location.buffer, Access::Write, location.offset, extent, pitch);
    return payload;
  }

  const HostPayload* host(CUgraphNode node) {
    CUDA_HOST_NODE_PARAMS p = {};
    if (context_.driver.cuGraphHostNodeGetParams(node, &p) != CUDA_SUCCESS) return nullptr;
    recording_.functions.push_back(
        std::make_shared<const std::function<void()>>([p] { p.fn(p.userData); }));
    return arena_->make<HostPayload>(static_cast<std::uint32_t>(recording_.functions.size() - 1));
  }

  void add_access(std::uint32_t buffer, Access access, std::uint64_t begin, const Extent& extent,
                  const Pitch& pitch) {
    BufferAccess added{buffer, access, 0, begin, begin + *span_bytes(extent, pitch)};
    if (!is_dense(extent, pitch)) {
      recording_.shapes.push_back({extent, pitch});
      added.shape = static_cast<std::uint32_t>(recording_.shapes.size());
    }
    recording_.accesses.push_back(added);
  }

  const CudaContext& context_;
  Recording& recording_;
  const std::shared_ptr<Arena> arena_;
  NativeMemory memory_;
  NativeOps ops_;
  // Final after all nodes are read: parameters become pointers on the way.
  std::vector<KernelCore> kernels_;
  std::unordered_map<CUfunction, std::uint32_t> kernel_of_;
};

DependencyGraph dependencies_of(const NativeNodes& nodes) {
  DependencyGraph dependencies;
  const auto count = static_cast<std::uint32_t>(nodes.nodes.size());
  dependencies.first_edge.assign(count + 1, 0);
  dependencies.edges.reserve(nodes.edges.size());
  for (const DirectedEdge& edge : nodes.edges) {
    dependencies.edges.push_back({edge.from, edge.to, {.kind = CauseKind::Captured}});
    ++dependencies.first_edge[edge.to + 1];
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    dependencies.node_command.push_back(i);
    dependencies.is_join.push_back(nodes.nodes[i].type == CU_GRAPH_NODE_TYPE_EMPTY ? 1 : 0);
    dependencies.first_edge[i + 1] += dependencies.first_edge[i];
  }
  // All edges of the application, without a redundancy check.
  dependencies.redundant_edges_left = static_cast<std::uint32_t>(dependencies.edges.size());
  return dependencies;
}

}  // namespace

ReadGraph read_graph(const CudaContext& context, CUgraph graph, std::string_view label,
                     const BufferFinder& finder) {
  const SetupScope scope(context, Stage::Instantiate);
  const NativeNodes nodes = native_nodes(context, graph, context.at(Stage::Instantiate, label));
  auto recording = std::make_shared<Recording>();
  recording->label = label;
  recording->origin = RecordingOrigin::ReadBack;
  recording->device = context.status;
  recording->generation = context.status->generation.load(std::memory_order_acquire);
  Reader(context, *recording, finder).read(nodes);
  return {std::move(recording), dependencies_of(nodes)};
}

}  // namespace reprise::detail
