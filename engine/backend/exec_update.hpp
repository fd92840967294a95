// What may change about an executable between its launches, and what came of it. Knows no device.
// Threads: values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <reprise/graph_update.hpp>

#include "plan/plan.hpp"

namespace reprise::detail {

// What the nodes of a plan are given. Addresses are by index in recording.buffers; transients
// already point into the graph's slab.
struct Bindings {
  std::vector<std::byte*> address;
  std::vector<std::byte> scalars = {};  // laid out as plan.slots.first_values; empty: as those
  std::vector<std::uint8_t> disabled =
      {};  // by node, those of bodies included, 1: it does nothing; empty: none is

  [[nodiscard]] bool is_disabled(std::uint32_t node) const noexcept {
    return node < disabled.size() && disabled[node] != 0;
  }
};

// What the nodes of a body are given, by `plan`'s bindings, which it is in. Of `disabled` nothing:
// that is by number.
inline Bindings bindings_of_body(const Plan& plan, const Body& body, const Bindings& bindings) {
  Bindings inside;
  inside.address.reserve(body.buffer_count);
  for (std::uint32_t i = 0; i < body.buffer_count; ++i)
    inside.address.push_back(bindings.address[body.buffers[i]]);
  const std::vector<std::uint32_t>& slots = plan.slots.in_bodies[body.index];
  if (bindings.scalars.empty() || slots.empty()) return inside;
  const ScalarSlots& of_body = plan.bodies[body.index]->slots;
  inside.scalars = of_body.first_values;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    std::memcpy(inside.scalars.data() + of_body.slots[i].offset,
                bindings.scalars.data() + plan.slots.slots[slots[i]].offset,
                of_body.slots[i].bytes);
  }
  return inside;
}

// One change of the bindings, and the nodes that it reaches: of the lowered graph, where what they
// run is meant too; of Disable and Enable, those of bodies by their own numbers.
struct BindingChange {
  enum class What : std::uint8_t { Scalar, Buffer, Disable, Enable } what = What::Scalar;
  std::uint32_t index = 0;                // slot of plan.slots, or buffer of the recording
  std::span<const std::byte> value = {};  // of Scalar
  std::byte* address = nullptr;           // of Buffer
  std::span<const std::uint32_t> nodes = {};
};

// Makes the change in `bindings`, which are `plan`'s. Allocates at most once in their life.
inline void apply(const Plan& plan, const BindingChange& change, Bindings& bindings) {
  switch (change.what) {
    case BindingChange::What::Scalar:
      if (bindings.scalars.empty()) bindings.scalars = plan.slots.first_values;
      std::memcpy(bindings.scalars.data() + plan.slots.slots[change.index].offset,
                  change.value.data(), change.value.size());
      return;
    case BindingChange::What::Buffer: bindings.address[change.index] = change.address; return;
    case BindingChange::What::Disable:
    case BindingChange::What::Enable:
      if (bindings.disabled.empty()) bindings.disabled.resize(plan.all_nodes);
      for (const std::uint32_t node : change.nodes)
        bindings.disabled[node] = change.what == BindingChange::What::Disable ? 1 : 0;
      return;
  }
}

// Another plan for the same executable.
struct PlanChange {
  enum class Scope : std::uint8_t { Nodes, Whole } scope = Scope::Whole;
  std::shared_ptr<const Plan> plan;
  const Bindings* bindings = nullptr;
  // No other node of the lowered graph is different, nor any edge. Empty where that is not known;
  // of Nodes it is.
  std::optional<std::span<const std::uint32_t>> nodes = {};
};

struct ExecUpdate {
  GraphExecUpdateOutcome outcome = GraphExecUpdateOutcome::Success;
  std::uint32_t node = kNone, from = kNone;  // lowered, of the new plan: where it was refused;
                                             // `from`: the other end of the edge
  std::int64_t native_code = 0;
  std::string native_name = {};
  std::shared_ptr<const void> replaced = {};  // what launches so far may still use

  [[nodiscard]] bool done() const noexcept { return outcome == GraphExecUpdateOutcome::Success; }
};

// A dispatch's parameter block as its node gets it: recorded values, addresses, values of slots.
// `block` has parameter_bytes bytes.
inline void fill_parameter_block(const Plan& plan, const Bindings& bindings, std::uint32_t command,
                                 std::byte* block) noexcept {
  const auto& dispatch = plan.recording->payload<DispatchPayload>(command);
  if (dispatch.parameter_bytes != 0)
    std::memcpy(block, dispatch.parameters, dispatch.parameter_bytes);
  for (std::uint32_t i = 0; i < dispatch.buffer_argument_count; ++i) {
    const BufferArgument& argument = dispatch.buffer_arguments[i];
    const std::byte* const at = bindings.address[argument.buffer] + argument.offset;
    std::memcpy(block + argument.parameter_offset, &at, sizeof at);
  }
  if (dispatch.slot_argument_count == 0 || bindings.scalars.empty()) return;
  for (const ScalarSlots::Use& use : plan.slots.uses_of(command)) {
    const ScalarSlots::Slot& slot = plan.slots.slots[use.slot];
    std::memcpy(block + use.parameter_offset, bindings.scalars.data() + slot.offset, slot.bytes);
  }
}

}  // namespace reprise::detail
