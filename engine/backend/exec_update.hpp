// The changes to an executable between launches, and their results. Knows no device. Threads:
// values.
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

// The parameters of a plan's nodes. Addresses are by index in recording.buffers; transients already
// point into the graph's slab.
struct Bindings {
  std::vector<std::byte*> address;
  std::vector<std::byte> scalars = {};  // laid out as plan.slots.first_values; empty: those values
  // By node, bodies included; 1: disabled; empty: no node is disabled.
  std::vector<std::uint8_t> disabled = {};

  [[nodiscard]] bool is_disabled(std::uint32_t node) const noexcept {
    return node < disabled.size() && disabled[node] != 0;
  }
};

// The bindings of a body of `plan`, without `disabled`, which is by node number of the whole plan.
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
                of_body.slots[i].type->size);
  }
  return inside;
}

// One change of the bindings and the nodes that it affects: nodes of the lowered graph, including
// their bodies. For Disable and Enable, nodes of bodies have numbers of their own.
struct BindingChange {
  enum class What : std::uint8_t { Scalar, Buffer, Disable, Enable } what = What::Scalar;
  std::uint32_t index = 0;                // slot of plan.slots, or buffer of the recording
  std::span<const std::byte> value = {};  // for Scalar
  std::byte* address = nullptr;           // for Buffer
  std::span<const std::uint32_t> nodes = {};
};

// Applies the change to `bindings` of `plan`. Allocates at most once per Bindings object.
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
      if (bindings.disabled.empty()) bindings.disabled.resize(plan.total_nodes);
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
  // The lowered nodes that differ; no edge differs. Empty if unknown; never empty for Scope::Nodes.
  std::optional<std::span<const std::uint32_t>> nodes = {};
};

struct ExecUpdate {
  GraphExecUpdateOutcome outcome = GraphExecUpdateOutcome::Success;
  // The lowered nodes of the new plan that caused a refusal; `from`: the source node of the edge.
  std::uint32_t node = kNone, from = kNone;
  std::int64_t native_code = 0;
  std::string native_name = {};
  std::shared_ptr<const void> replaced = {};  // resources that earlier launches may use

  [[nodiscard]] bool done() const noexcept { return outcome == GraphExecUpdateOutcome::Success; }
};

// Fills `block` (parameter_bytes bytes) with a dispatch's parameters: recorded values, addresses,
// slot values.
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
    std::memcpy(block + use.parameter_offset, bindings.scalars.data() + slot.offset,
                slot.type->size);
  }
}

}  // namespace reprise::detail
