#include "record/payload.hpp"

#include <algorithm>

#include "record/geometry.hpp"

namespace reprise::detail {

namespace {

void remap(std::uint32_t& index, std::span<const std::uint32_t> map) {
  if (index != kNone) index = map[index];
}

void copy_snapshot(Endpoint& side, const Extent& extent, const Pitch& pitch, Arena& arena) {
  if (side.host == nullptr || side.lifetime != HostBytes::Lifetime::Snapshot) return;
  side.host = arena.copy_bytes(side.host, *span_bytes(extent, pitch));
}

void remap(Body& body, const IndexMaps& maps) {
  remap(body.index, maps.bodies);
  for (std::uint32_t i = 0; i < body.buffer_count; ++i) remap(body.buffers[i], maps.buffers);
}

void copy_buffers(Body& body, Arena& arena) {
  auto* const buffers = arena.make_array<std::uint32_t>(body.buffer_count);
  std::copy_n(body.buffers, body.buffer_count, buffers);
  body.buffers = buffers;
}

template <class Payload>
Payload* clone(const void* payload, Arena& arena) {
  return arena.make<Payload>(*static_cast<const Payload*>(payload));
}

}  // namespace

std::span<Body> bodies_of(CommandKind kind, const void* payload) noexcept {
  switch (kind) {
    case CommandKind::Nested:
      return {&static_cast<NestedPayload*>(const_cast<void*>(payload))->body, 1};
    case CommandKind::Conditional: {
      const auto& p = *static_cast<const ConditionalPayload*>(payload);
      return {p.bodies, p.body_count};
    }
    case CommandKind::Dispatch:
    case CommandKind::Copy:
    case CommandKind::Fill:
    case CommandKind::Update:
    case CommandKind::Host:
    case CommandKind::Op:
    case CommandKind::Barrier: break;
  }
  return {};
}

void remap_payload(CommandKind kind, void* payload, const IndexMaps& maps) noexcept {
  switch (kind) {
    case CommandKind::Dispatch: {
      auto& p = *static_cast<DispatchPayload*>(payload);
      remap(p.kernel, maps.kernels);
      remap(p.op, maps.ops);
      for (std::uint32_t i = 0; i < p.buffer_argument_count; ++i)
        remap(p.buffer_arguments[i].buffer, maps.buffers);
      return;
    }
    case CommandKind::Copy: {
      auto& p = *static_cast<CopyPayload*>(payload);
      remap(p.source.buffer, maps.buffers);
      remap(p.destination.buffer, maps.buffers);
      return;
    }
    case CommandKind::Fill: remap(static_cast<FillPayload*>(payload)->buffer, maps.buffers); return;
    case CommandKind::Update:
      remap(static_cast<UpdatePayload*>(payload)->buffer, maps.buffers);
      return;
    case CommandKind::Host:
      remap(static_cast<HostPayload*>(payload)->function, maps.functions);
      return;
    case CommandKind::Op: {
      auto& p = *static_cast<OpPayload*>(payload);
      remap(p.op, maps.ops);
      for (std::uint32_t i = 0; i < p.buffer_count; ++i) remap(p.buffers[i], maps.buffers);
      return;
    }
    case CommandKind::Barrier:
      remap(static_cast<BarrierPayload*>(payload)->buffer, maps.buffers);
      return;
    case CommandKind::Conditional:
      remap(static_cast<ConditionalPayload*>(payload)->condition, maps.buffers);
      [[fallthrough]];
    case CommandKind::Nested:
      for (Body& body : bodies_of(kind, payload)) remap(body, maps);
      return;
  }
}

void* clone_payload(CommandKind kind, const void* payload, Arena& arena) {
  switch (kind) {
    case CommandKind::Dispatch: {
      auto* p = clone<DispatchPayload>(payload, arena);
      p->parameters = arena.copy_bytes(p->parameters, p->parameter_bytes);
      auto* arguments = arena.make_array<BufferArgument>(p->buffer_argument_count);
      for (std::uint32_t i = 0; i < p->buffer_argument_count; ++i)
        arguments[i] = p->buffer_arguments[i];
      p->buffer_arguments = arguments;
      auto* slots = arena.make_array<SlotArgument>(p->slot_argument_count);
      for (std::uint32_t i = 0; i < p->slot_argument_count; ++i) {
        slots[i] = p->slot_arguments[i];
        slots[i].name = arena.copy_text(slots[i].name);
      }
      p->slot_arguments = slots;
      if (p->block_slices != nullptr) {
        auto* slices = arena.make_array<BlockSlice>(p->buffer_argument_count);
        std::copy_n(p->block_slices, p->buffer_argument_count, slices);
        p->block_slices = slices;
      }
      return p;
    }
    case CommandKind::Copy: {
      auto* p = clone<CopyPayload>(payload, arena);
      copy_snapshot(p->source, p->extent, p->source_pitch, arena);
      copy_snapshot(p->destination, p->extent, p->destination_pitch, arena);
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
    case CommandKind::Nested: {
      auto* p = clone<NestedPayload>(payload, arena);
      copy_buffers(p->body, arena);
      return p;
    }
    case CommandKind::Conditional: {
      auto* p = clone<ConditionalPayload>(payload, arena);
      auto* const bodies = arena.make_array<Body>(p->body_count);
      for (std::uint32_t i = 0; i < p->body_count; ++i)
        copy_buffers(bodies[i] = p->bodies[i], arena);
      p->bodies = bodies;
      return p;
    }
  }
  return nullptr;
}

}  // namespace reprise::detail
