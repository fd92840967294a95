// payload: visits, copies and renumbers the indices inside command payloads. Threads: pure, except
// for the arena of a clone.
#pragma once

#include <cstdint>
#include <span>

#include "base/arena.hpp"
#include "record/command.hpp"

namespace reprise::detail {

// Old index -> new index.
struct IndexMaps {
  std::span<const std::uint32_t> buffers, kernels, functions, ops, bodies;
};

// The recordings that a command runs; empty except for Nested and Conditional.
[[nodiscard]] std::span<Body> bodies_of(CommandKind kind, const void* payload) noexcept;
[[nodiscard]] inline std::span<const Body> bodies_of(const Command& command) noexcept {
  return bodies_of(command.kind, command.payload);
}

// Calls visit(buffer index) for each buffer of the payload, in the order in which recording
// interned them.
template <class Visit>
void for_each_buffer(CommandKind kind, const void* payload, Visit&& visit) {
  switch (kind) {
    case CommandKind::Dispatch: {
      const auto& p = *static_cast<const DispatchPayload*>(payload);
      for (std::uint32_t i = 0; i < p.buffer_argument_count; ++i)
        visit(p.buffer_arguments[i].buffer);
      return;
    }
    case CommandKind::Copy: {
      const auto& p = *static_cast<const CopyPayload*>(payload);
      if (p.source.buffer != kNone) visit(p.source.buffer);
      if (p.destination.buffer != kNone) visit(p.destination.buffer);
      return;
    }
    case CommandKind::Fill: visit(static_cast<const FillPayload*>(payload)->buffer); return;
    case CommandKind::Update: visit(static_cast<const UpdatePayload*>(payload)->buffer); return;
    case CommandKind::Host: return;  // its buffers appear only in its accesses
    case CommandKind::Op: {
      const auto& p = *static_cast<const OpPayload*>(payload);
      for (std::uint32_t i = 0; i < p.buffer_count; ++i) visit(p.buffers[i]);
      return;
    }
    case CommandKind::Barrier: {
      const std::uint32_t buffer = static_cast<const BarrierPayload*>(payload)->buffer;
      if (buffer != kNone) visit(buffer);
      return;
    }
    case CommandKind::Conditional:
      visit(static_cast<const ConditionalPayload*>(payload)->condition);
      [[fallthrough]];
    case CommandKind::Nested:
      for (const Body& body : bodies_of(kind, payload)) {
        for (std::uint32_t i = 0; i < body.buffer_count; ++i) visit(body.buffers[i]);
      }
      return;
  }
}

// Replaces the indices of a payload.
void remap_payload(CommandKind kind, void* payload, const IndexMaps& maps) noexcept;

// Deep copy into `arena`. Borrowed memory is not copied.
[[nodiscard]] void* clone_payload(CommandKind kind, const void* payload, Arena& arena);

}  // namespace reprise::detail
