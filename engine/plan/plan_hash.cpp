#include "plan/plan_hash.hpp"

#include "plan/hash.hpp"
#include "record/condition_core.hpp"

namespace reprise::detail {

namespace {

template <class... Values>
std::uint64_t pack_bytes(Values... values) {
  std::uint64_t word = 0;
  ((word = word << 8 | static_cast<std::uint8_t>(values)), ...);
  return word;
}

void add(Hash64& hash, const Dim3& d) {
  hash.add(d.x, d.y);
  hash.add(d.z);
}

void add(Hash64& hash, const Extent& extent, const Pitch& pitch) {
  for (const std::uint64_t value :
       {extent.width, extent.height, extent.depth, pitch.row, pitch.slice})
    hash.add(value);
}

void add(Hash64& hash, const DispatchPayload& dispatch) {
  hash.add(dispatch.kernel, dispatch.shared_bytes);
  add(hash, dispatch.grid);
  add(hash, dispatch.block);
  add(hash, dispatch.cluster.value_or(Dim3(0, 0, 0)));
  hash.add(static_cast<std::uint32_t>(dispatch.launch), dispatch.buffer_argument_count);
  hash.add_bytes(dispatch.parameters, dispatch.parameter_bytes);
  for (std::uint32_t i = 0; i < dispatch.buffer_argument_count; ++i) {
    const BufferArgument& argument = dispatch.buffer_arguments[i];
    hash.add(argument.parameter_offset, argument.buffer);
    hash.add(argument.offset);
  }
  for (std::uint32_t i = 0; i < dispatch.slot_argument_count; ++i) {
    const SlotArgument& argument = dispatch.slot_arguments[i];
    hash.add(argument.parameter_offset, argument.type->size);
    hash.add(argument.name);
  }
  if (dispatch.start != DispatchDesc::Start::Ordered)
    hash.add(static_cast<std::uint32_t>(dispatch.start), 0);
  if (dispatch.block_slices == nullptr) return;
  for (std::uint32_t i = 0; i < dispatch.buffer_argument_count; ++i) {
    hash.add(dispatch.block_slices[i].bytes);
    hash.add(dispatch.block_slices[i].around);
  }
}

// The bytes of a snapshot are part of the recording. Borrowed bytes are read at each replay and are
// excluded.
void add(Hash64& hash, const Endpoint& side, const Extent& extent, const Pitch& pitch) {
  hash.add(side.buffer, static_cast<std::uint32_t>(side.lifetime));
  hash.add(side.offset);
  add(hash, extent, pitch);
  if (side.buffer != kNone || side.lifetime != HostBytes::Lifetime::Snapshot ||
      side.host == nullptr)
    return;
  for (std::uint64_t slice = 0; slice < extent.depth; ++slice) {
    for (std::uint64_t row = 0; row < extent.height; ++row) {
      hash.add_bytes(
          static_cast<const std::byte*>(side.host) + slice * pitch.slice + row * pitch.row,
          extent.width);
    }
  }
}

void add(Hash64& hash, const CopyPayload& copy) {
  add(hash, copy.source, copy.extent, copy.source_pitch);
  add(hash, copy.destination, copy.extent, copy.destination_pitch);
}

void add(Hash64& hash, const FillPayload& fill) {
  hash.add(fill.buffer, fill.bits);
  hash.add(fill.offset);
  hash.add(fill.element_bytes);
  add(hash, fill.extent, fill.pitch);
}

void add(Hash64& hash, const UpdatePayload& update) {
  hash.add(update.buffer);
  hash.add(update.offset);
  hash.add_bytes(update.data, update.bytes);
}

void add(Hash64& hash, const HostPayload& host) { hash.add(host.function); }

void add(Hash64& hash, const RecordedOp& op) {
  hash.add(op.name);
  hash.add(op.parameters);
}

void add(Hash64& hash, const OpPayload& payload, const RecordedOp& op) {
  add(hash, op);
  hash.add(payload.buffer_count, op.workspace_count);
  for (std::uint32_t i = 0; i < payload.buffer_count; ++i) {
    hash.add(payload.buffers[i]);
    if (i < op.views.size()) hash.add(op.views[i].view.offset());
  }
}

void add(Hash64& hash, const Body& body) {
  hash.add(body.index, body.buffer_count);
  for (std::uint32_t i = 0; i < body.buffer_count; ++i) hash.add(body.buffers[i]);
}

void add(Hash64& hash, const ConditionalPayload& conditional, const Recording& recording) {
  hash.add(static_cast<std::uint32_t>(conditional.branch), conditional.condition);
  hash.add(conditional.max_iterations);
  hash.add(ConditionCore::of(*recording.buffers[conditional.condition]).initial);
  for (std::uint32_t i = 0; i < conditional.body_count; ++i) add(hash, conditional.bodies[i]);
}

void add(Hash64& hash, const BarrierPayload& barrier) {
  hash.add(barrier.buffer, static_cast<std::uint32_t>(pack_bytes(barrier.before, barrier.after)));
  hash.add(barrier.begin);
  hash.add(barrier.end);
  if (barrier.dependency == Dependency::Programmatic) hash.add(0, 1);
}

void add_payload(Hash64& hash, const Recording& recording, std::uint32_t command) {
  switch (recording.commands[command].kind) {
    case CommandKind::Dispatch: {
      const auto& dispatch = recording.payload<DispatchPayload>(command);
      if (dispatch.op != kNone) add(hash, *recording.ops[dispatch.op]);
      return add(hash, dispatch);
    }
    case CommandKind::Copy: return add(hash, recording.payload<CopyPayload>(command));
    case CommandKind::Fill: return add(hash, recording.payload<FillPayload>(command));
    case CommandKind::Update: return add(hash, recording.payload<UpdatePayload>(command));
    case CommandKind::Host: return add(hash, recording.payload<HostPayload>(command));
    case CommandKind::Op: {
      const auto& payload = recording.payload<OpPayload>(command);
      return add(hash, payload, *recording.ops[payload.op]);
    }
    case CommandKind::Barrier: return add(hash, recording.payload<BarrierPayload>(command));
    case CommandKind::Nested: return add(hash, recording.payload<NestedPayload>(command).body);
    case CommandKind::Conditional:
      return add(hash, recording.payload<ConditionalPayload>(command), recording);
  }
}

void add_tables(Hash64& hash, const Recording& recording) {
  hash.add(recording.label);
  hash.add(pack_bytes(recording.ordering, recording.level));
  hash.add(recording.buffers.size());
  for (const auto& buffer : recording.buffers) {
    hash.add(buffer->name);
    hash.add(static_cast<std::uint32_t>(buffer->kind), buffer->alignment);
    hash.add(buffer->bytes);
  }
  for (const MemoryPlace& place : recording.places) {
    hash.add(place.memory);
    hash.add(place.offset);
  }
  hash.add(recording.kernels.size());
  for (const auto& kernel : recording.kernels) {
    hash.add(kernel->name);
    hash.add(kernel->parameters.size());
    for (const KernelParameter& parameter : kernel->parameters) {
      hash.add(parameter.offset, parameter.size);
      hash.add(std::uint64_t{parameter.is_pointer});
    }
  }
  hash.add(recording.labels.size());
  for (const LabelRecord& label : recording.labels) {
    hash.add(label.name);
    hash.add(label.parent,
             static_cast<std::uint32_t>(pack_bytes(label.color.r, label.color.g, label.color.b)));
  }
  hash.add(recording.shapes.size());
  for (const AccessShape& shape : recording.shapes) add(hash, shape.extent, shape.pitch);
}

void add(Hash64& hash, const Segment& segment) {
  hash.add(segment.first_node, segment.nodes);
  for (const std::uint32_t first : segment.first_item) hash.add(first);
  for (const SegmentItem& item : segment.items) {
    hash.add(item.node, item.waits << 1 | (item.publishes ? 1u : 0u));
    hash.add(item.first_block, item.blocks);
  }
  for (const std::uint32_t node : segment.waits) hash.add(node);
  for (const BlockRelation& relation : segment.relations) {
    hash.add(relation.from, relation.to);
    for (const std::int64_t number :
         {relation.factor, relation.divisor, relation.low, relation.high})
      hash.add(static_cast<std::uint64_t>(number));
  }
}

void add(Hash64& hash, const Placement& placement) {
  hash.add(placement.buffers.size());
  for (const PlacedBuffer& placed : placement.buffers) {
    hash.add(placed.buffer);
    hash.add(placed.offset);
    hash.add(placed.bytes);
  }
  hash.add(placement.slab_bytes);
}

}  // namespace

Hash64 hash_recording(const Recording& recording) {
  Hash64 hash;
  add_tables(hash, recording);
  hash.add(recording.commands.size());
  for (std::uint32_t i = 0; i < recording.commands.size(); ++i) {
    const Command& command = recording.commands[i];
    hash.add(pack_bytes(command.kind) | std::uint64_t{command.label} << 32);
    add_payload(hash, recording, i);
    hash.add(command.access_count);
    for (std::uint32_t a = 0; a < command.access_count; ++a) {
      const BufferAccess& access = recording.accesses[command.first_access + a];
      hash.add(access.buffer, access.shape);
      hash.add(access.begin);
      hash.add(access.end ^ std::uint64_t{static_cast<std::uint8_t>(access.access)} << 62);
    }
  }
  return hash;
}

std::uint64_t hash_dependencies(const Hash64& recording, const DependencyGraph& dependencies) {
  Hash64 hash = recording;
  hash.add(dependencies.node_count());
  for (const std::uint32_t command : dependencies.node_command) hash.add(command);
  hash.add(dependencies.edges.size());
  for (const Edge& edge : dependencies.edges) {
    hash.add(edge.from, edge.to);
    hash.add(pack_bytes(edge.cause.kind, edge.cause.hazard) | std::uint64_t{edge.cause.buffer}
                                                                  << 32);
    hash.add(edge.cause.barrier);
    hash.add(edge.cause.begin);
    hash.add(edge.cause.end);
  }
  return hash.value();
}

std::uint64_t hash_pair(std::uint64_t first, std::uint64_t second) {
  Hash64 hash;
  hash.add(first);
  hash.add(second);
  return hash.value();
}

std::uint64_t hash_lowering(const LoweredGraph& lowered, const Placement& placement) {
  Hash64 hash;
  hash.add(lowered.lanes, (lowered.entry_exit.entry ? 1u : 0u) | (lowered.fault_markers ? 2u : 0u) |
                              (lowered.entry_exit.exit ? 4u : 0u));
  hash.add(lowered.nodes.size());
  for (const LoweredNode& node : lowered.nodes) {
    hash.add(node.dependency_node, node.lane);
    hash.add(node.edge_count, static_cast<std::uint32_t>(node.kind));
  }
  hash.add(lowered.edges.size());
  for (const LoweredEdge& edge : lowered.edges) {
    hash.add(edge.from, static_cast<std::uint32_t>(edge.origin) |
                            static_cast<std::uint32_t>(edge.strength) << 8);
  }
  for (const Segment& segment : lowered.segments) add(hash, segment);
  if (lowered.loop_condition != kNone) hash.add(lowered.loop_condition);
  add(hash, placement);
  return hash.value();
}

std::uint64_t hash_execution(const LoweredGraph& lowered, const Placement& placement) {
  Hash64 hash;
  hash.add(lowered.nodes.size());
  hash.add(lowered.fault_markers ? 1 : 0);
  for (const LoweredNode& node : lowered.nodes) {
    hash.add(node.dependency_node, node.edge_count);
    hash.add(static_cast<std::uint32_t>(node.kind));
  }
  for (const LoweredEdge& edge : lowered.edges)
    hash.add(edge.from, static_cast<std::uint32_t>(edge.strength));
  for (const Segment& segment : lowered.segments) add(hash, segment);
  if (lowered.loop_condition != kNone) hash.add(lowered.loop_condition);
  add(hash, placement);
  return hash.value();
}

}  // namespace reprise::detail
