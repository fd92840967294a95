#include "record/payload.hpp"

#include "record/geometry.hpp"

namespace reprise::detail {

namespace {

void remap(std::uint32_t& index, std::span<const std::uint32_t> map) {
  if (index != kNone) index = map[index];
}

void take_snapshot(Endpoint& side, const Extent& extent, const Pitch& pitch, Arena& arena) {
  if (side.host == nullptr || side.lifetime != HostBytes::Lifetime::Snapshot) return;
  side.host = arena.copy_bytes(side.host, *span_bytes(extent, pitch));
}

template <class Payload>
Payload* clone(const void* payload, Arena& arena) {
  return arena.make<Payload>(*static_cast<const Payload*>(payload));
}

}  // namespace

void remap_payload(CommandKind kind, void* payload, const IndexMaps& maps) noexcept {
  switch (kind) {
    case CommandKind::Dispatch: {
      auto& p = *static_cast<DispatchPayload*>(payload);
      remap(p.kernel, maps.kernels);
      for (std::uint32_t i = 0; i < p.buffer_argument_count; ++i) remap(p.buffer_arguments[i].buffer, maps.buffers);
      return;
    }
    case CommandKind::Copy: {
      auto& p = *static_cast<CopyPayload*>(payload);
      remap(p.source.buffer, maps.buffers);
      remap(p.destination.buffer, maps.buffers);
      return;
    }
    case CommandKind::Fill: remap(static_cast<FillPayload*>(payload)->buffer, maps.buffers); return;
    case CommandKind::Update: remap(static_cast<UpdatePayload*>(payload)->buffer, maps.buffers); return;
    case CommandKind::Host: remap(static_cast<HostPayload*>(payload)->function, maps.functions); return;
    case CommandKind::Op: {
      auto& p = *static_cast<OpPayload*>(payload);
      remap(p.op, maps.ops);
      for (std::uint32_t i = 0; i < p.buffer_count; ++i) remap(p.buffers[i], maps.buffers);
      return;
    }
    case CommandKind::Barrier: remap(static_cast<BarrierPayload*>(payload)->buffer, maps.buffers); return;
  }
}

void* clone_payload(CommandKind kind, const void* payload, Arena& arena) {
  switch (kind) {
    case CommandKind::Dispatch: {
      auto* p = clone<DispatchPayload>(payload, arena);
      p->parameters = arena.copy_bytes(p->parameters, p->parameter_bytes);
      auto* arguments = arena.make_array<BufferArgument>(p->buffer_argument_count);
      for (std::uint32_t i = 0; i < p->buffer_argument_count; ++i) arguments[i] = p->buffer_arguments[i];
      p->buffer_arguments = arguments;
      auto* slots = arena.make_array<SlotArgument>(p->slot_argument_count);
      for (std::uint32_t i = 0; i < p->slot_argument_count; ++i) {
        slots[i] = p->slot_arguments[i];
        slots[i].name = arena.copy_text(slots[i].name);
      }
      p->slot_arguments = slots;
      return p;
    }
    case CommandKind::Copy: {
      auto* p = clone<CopyPayload>(payload, arena);
      take_snapshot(p->source, p->extent, p->source_pitch, arena);
      take_snapshot(p->destination, p->extent, p->destination_pitch, arena);
      return p;
    }
    case CommandKind::Fill: return clone<FillPayload>(payload, arena);
    case CommandKind::Update: {
      auto* p = clone<UpdatePayload>(payload, arena);
      p->data = arena.copy_bytes(p->data, p->bytes);
      return p;
    }
    case CommandKind::Host: return clone<HostPayload>(payload, arena);
    case CommandKind::Op: {
      auto* p = clone<OpPayload>(payload, arena);
      auto* buffers = arena.make_array<std::uint32_t>(p->buffer_count);
      for (std::uint32_t i = 0; i < p->buffer_count; ++i) buffers[i] = p->buffers[i];
      p->buffers = buffers;
      return p;
    }
    case CommandKind::Barrier: return clone<BarrierPayload>(payload, arena);
  }
  return nullptr;
}

}  // namespace reprise::detail
