#include "lowering/segment.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include "base/aligned_up.hpp"
#include "lowering/lowering_config.hpp"
#include "record/buffer_core.hpp"
#include "record/payload.hpp"

namespace reprise::detail {

namespace {

std::uint64_t bytes_of(const Extent& extent) { return extent.width * extent.height * extent.depth; }

// Bytes of a fill, copy or update; 0 for other commands.
std::uint64_t transfer_bytes(const Recording& recording, std::uint32_t command) {
  switch (recording.commands[command].kind) {
    case CommandKind::Copy: return bytes_of(recording.payload<CopyPayload>(command).extent);
    case CommandKind::Fill: return bytes_of(recording.payload<FillPayload>(command).extent);
    case CommandKind::Update: return recording.payload<UpdatePayload>(command).bytes;
    default: return 0;
  }
}

bool is_on_device(const Recording& recording, std::uint32_t buffer) {
  if (buffer == kNone) return false;
  const BufferKind kind = recording.buffers[buffer]->kind;
  return kind == BufferKind::Device || kind == BufferKind::Transient;
}

std::string_view dispatch_exclusion(const Recording& recording, std::uint32_t command,
                                    std::uint32_t loop_condition) {
  const auto& dispatch = recording.payload<DispatchPayload>(command);
  const KernelCore& core = *recording.kernels[dispatch.kernel];
  const bool takes_condition =
      std::any_of(core.parameters.begin(), core.parameters.end(),
                  [](const KernelParameter& p) { return p.is_condition || p.may_be_pointer; });
  for (std::uint32_t i = 0; takes_condition && i < dispatch.buffer_argument_count; ++i) {
    const std::uint32_t buffer = dispatch.buffer_arguments[i].buffer;
    if (recording.buffers[buffer]->kind == BufferKind::Condition && buffer != loop_condition)
      return "sets a condition";
  }
  if (dispatch.launch == DispatchDesc::Launch::Cooperative) return "cooperative launch";
  if (dispatch.cluster) return "thread block cluster";
  if (recording.starts_programmatically(command)) return "programmatic start";
  if (dispatch.grid.volume() > std::numeric_limits<std::uint32_t>::max()) return "too many blocks";
  return core.backend ? core.backend->segment_exclusion(dispatch) : std::string_view();
}

}  // namespace

BlockRelation::Blocks BlockRelation::needed(std::uint32_t start, std::uint32_t blocks,
                                            std::uint32_t count) const noexcept {
  if (is_of_all_blocks()) return {0, count - 1};
  const std::int64_t most = std::int64_t{count} - 1;
  const std::int64_t first = floor_divide(factor * start + low, divisor),
                     last =
                         floor_divide(factor * (std::int64_t{start} + blocks - 1) + high, divisor);
  if (first > most || last < 0 || last < first) return {1, 0};
  return {static_cast<std::uint32_t>(std::max<std::int64_t>(first, 0)),
          static_cast<std::uint32_t>(std::min(last, most))};
}

RelationsByTarget::RelationsByTarget(const Segment& segment) : segment_(segment) {
  if (segment.relations.empty()) return;
  first_.assign(segment.nodes + 1, 0);
  for (const BlockRelation& relation : segment.relations)
    if (segment.contains(relation.to)) ++first_[relation.to - segment.first_node + 1];
  for (std::size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
}

std::span<const BlockRelation> RelationsByTarget::into(std::uint32_t node) const noexcept {
  if (first_.empty()) return {};
  const std::uint32_t of = node - segment_.first_node;
  return std::span(segment_.relations).subspan(first_[of], first_[of + 1] - first_[of]);
}

std::string_view segment_exclusion(const Recording& recording, std::uint32_t command,
                                   std::uint32_t loop_condition) {
  constexpr std::string_view kHostMemory = "accesses host memory";
  if (recording.has_collectives) return "its graph has collectives";
  switch (recording.commands[command].kind) {
    case CommandKind::Dispatch: return dispatch_exclusion(recording, command, loop_condition);
    case CommandKind::Copy: {
      const auto& copy = recording.payload<CopyPayload>(command);
      if (!is_on_device(recording, copy.source.buffer) ||
          !is_on_device(recording, copy.destination.buffer))
        return kHostMemory;
      break;
    }
    case CommandKind::Fill:
      if (!is_on_device(recording, recording.payload<FillPayload>(command).buffer))
        return kHostMemory;
      break;
    case CommandKind::Update:
      if (!is_on_device(recording, recording.payload<UpdatePayload>(command).buffer))
        return kHostMemory;
      break;
    case CommandKind::Host: return "host callback";
    case CommandKind::Op: return "library op";
    case CommandKind::Barrier: return "barrier";
    case CommandKind::Nested: return "nested command buffer";
    case CommandKind::Conditional: return "conditional";
  }
  return transfer_bytes(recording, command) > kMaxSegmentTransfer ? "transfers more than 16 KiB"
                                                                  : std::string_view();
}

std::uint32_t segment_blocks_of(const Recording& recording, std::uint32_t command) {
  if (recording.commands[command].kind == CommandKind::Dispatch)
    return static_cast<std::uint32_t>(
        std::min<std::uint64_t>(recording.payload<DispatchPayload>(command).grid.volume(),
                                std::numeric_limits<std::uint32_t>::max()));
  return 1;
}

std::vector<std::uint32_t> segment_blocks(const Recording& recording,
                                          const DependencyGraph& dependencies,
                                          std::uint32_t loop_condition) {
  std::vector<std::uint32_t> blocks(dependencies.node_count(), 0);
  for (std::uint32_t node = 0; node < dependencies.node_count(); ++node) {
    const std::uint32_t command = dependencies.node_command[node];
    if (dependencies.is_join[node] == 0 &&
        segment_exclusion(recording, command, loop_condition).empty())
      blocks[node] = segment_blocks_of(recording, command);
  }
  return blocks;
}

namespace {

// Whether twice the usual number of persistent blocks that run this dispatch are resident.
bool is_light(const KernelCore& kernel, const DispatchPayload& dispatch) {
  constexpr std::uint32_t kRegisters = 32, kSharedBytes = 8 << 10;
  return kernel.registers != 0 && kernel.registers <= kRegisters &&
         kernel.static_shared_bytes + dispatch.shared_bytes <= kSharedBytes;
}

}  // namespace

void add_segment_hints(const Recording& recording, const DependencyGraph& dependencies,
                       std::uint32_t max_blocks, bool may_fill, NodeHints& hints,
                       std::uint32_t loop_condition) {
  hints.segment_blocks = segment_blocks(recording, dependencies, loop_condition);
  std::uint32_t threads = kMinSegmentThreads, most_blocks = 0;
  bool are_light = may_fill;
  for (std::uint32_t node = 0; node < hints.segment_blocks.size(); ++node) {
    const std::uint32_t command = dependencies.node_command[node];
    if (hints.segment_blocks[node] == 0 ||
        recording.commands[command].kind != CommandKind::Dispatch)
      continue;
    const auto& dispatch = recording.payload<DispatchPayload>(command);
    threads = std::max(threads, static_cast<std::uint32_t>(dispatch.block.volume()));
    most_blocks = std::max(most_blocks, hints.segment_blocks[node]);
    are_light = are_light && is_light(*recording.kernels[dispatch.kernel], dispatch);
  }
  hints.segment_lists = std::max(1u, max_blocks * kMinSegmentThreads / std::bit_ceil(threads));
  if (are_light && most_blocks > hints.segment_lists) hints.segment_lists *= kLightSegments;
  hints.undisturbed_lists = max_blocks * kMinSegmentThreads / kSegmentThreads;
}

bool runs_at_once(const Segment& segment) {
  return segment.waits.empty() &&
         std::all_of(segment.items.begin(), segment.items.end(),
                     [](const SegmentItem& item) { return item.blocks == 1; });
}

SegmentPartition partition_into_segments(const DependencyGraph& dependencies,
                                         std::span<const std::uint32_t> blocks) {
  // Phase p has the nodes of segment p, then other nodes that follow them. A node of a segment that
  // depends on another node belongs to a later segment.
  std::vector<std::uint32_t> phase(dependencies.node_count(), 0);
  std::uint32_t phases = 0;
  for (std::uint32_t node = 0; node < dependencies.node_count(); ++node) {
    for (const Edge& edge : dependencies.edges_into(node)) {
      const bool is_next = blocks[node] != 0 && blocks[edge.from] == 0;
      phase[node] = std::max(phase[node], phase[edge.from] + (is_next ? 1 : 0));
    }
    phases = std::max(phases, phase[node] + 1);
  }
  std::vector<std::uint32_t> first(2 * std::size_t{phases} + 1, 0);
  const auto group = [&](std::uint32_t node) {
    return 2 * std::size_t{phase[node]} + (blocks[node] != 0 ? 0 : 1);
  };
  for (std::uint32_t node = 0; node < dependencies.node_count(); ++node) ++first[group(node) + 1];
  for (std::size_t i = 1; i < first.size(); ++i) first[i] += first[i - 1];
  SegmentPartition partition;
  for (std::size_t i = 0; i + 1 < first.size(); i += 2) {
    const std::uint32_t nodes = first[i + 1] - first[i];
    if (nodes > 1) partition.segments.push_back({first[i], nodes});
  }
  partition.order.resize(dependencies.node_count());
  for (std::uint32_t node = 0; node < dependencies.node_count(); ++node)
    partition.order[first[group(node)]++] = node;
  return partition;
}

}  // namespace reprise::detail
