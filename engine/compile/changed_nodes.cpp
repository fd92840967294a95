#include "compile/changed_nodes.hpp"

#include <algorithm>
#include <cstring>

#include "plan/plan_difference.hpp"
#include "record/geometry.hpp"
#include "record/payload.hpp"

namespace reprise::detail {
namespace {

enum class Comparison : std::uint8_t { Same, Different, NotByItself };

class Comparer {
 public:
  Comparer(const BoundPlan& before, const BoundPlan& after) : before_(before), after_(after) {}

  // The command has the same index in both recordings.
  [[nodiscard]] Comparison compare(std::uint32_t command) {
    const CommandKind kind = after_.plan.recording->commands[command].kind;
    if (before_.plan.recording->commands[command].kind != kind) return Comparison::NotByItself;
    switch (kind) {
      case CommandKind::Dispatch: return dispatches(command);
      case CommandKind::Copy: return copies(command);
      case CommandKind::Fill: return fills(command);
      case CommandKind::Update: return updates(command);
      case CommandKind::Host: {
        const auto& a =
            before_.plan.recording->functions[payload<HostPayload>(before_, command).function];
        return a == after_.plan.recording->functions[payload<HostPayload>(after_, command).function]
                   ? Comparison::Same
                   : Comparison::NotByItself;
      }
      case CommandKind::Op: return ops(command);
      case CommandKind::Barrier: return Comparison::Same;
      case CommandKind::Nested:
      case CommandKind::Conditional: return bodies(command);
    }
    return Comparison::NotByItself;
  }

 private:
  template <class Payload>
  static const Payload& payload(const BoundPlan& of, std::uint32_t command) {
    return of.plan.recording->payload<Payload>(command);
  }
  static const std::byte* address(const BoundPlan& of, std::uint32_t buffer, std::uint64_t offset) {
    return of.bindings.address[buffer] + offset;
  }
  static const std::byte* address(const BoundPlan& of, const Endpoint& side) {
    return side.buffer == kNone ? static_cast<const std::byte*>(side.host)
                                : address(of, side.buffer, side.offset);
  }

  Comparison dispatches(std::uint32_t command) {
    const auto& a = payload<DispatchPayload>(before_, command);
    const auto& b = payload<DispatchPayload>(after_, command);
    if (before_.plan.recording->kernels[a.kernel] != after_.plan.recording->kernels[b.kernel] ||
        a.grid != b.grid || a.block != b.block || a.shared_bytes != b.shared_bytes ||
        a.parameter_bytes != b.parameter_bytes || !same_conditions(a, b)) {
      return Comparison::Different;
    }
    if (a.slot_argument_count == 0 && b.slot_argument_count == 0)
      return arguments(a, b) ? Comparison::Same : Comparison::Different;
    old_block_.resize(a.parameter_bytes);
    block_.resize(b.parameter_bytes);
    fill_parameter_block(before_.plan, before_.bindings, command, old_block_.data());
    fill_parameter_block(after_.plan, after_.bindings, command, block_.data());
    return old_block_ == block_ ? Comparison::Same : Comparison::Different;
  }
  // Values and addresses of two dispatches of one kernel, slots excluded.
  [[nodiscard]] bool arguments(const DispatchPayload& a, const DispatchPayload& b) const {
    if (a.parameter_bytes != 0 && std::memcmp(a.parameters, b.parameters, a.parameter_bytes) != 0)
      return false;
    return std::equal(a.buffer_arguments, a.buffer_arguments + a.buffer_argument_count,
                      b.buffer_arguments, b.buffer_arguments + b.buffer_argument_count,
                      [&](const BufferArgument& x, const BufferArgument& y) {
                        return x.parameter_offset == y.parameter_offset &&
                               address(before_, x.buffer, x.offset) ==
                                   address(after_, y.buffer, y.offset);
                      });
  }
  // Conditions have no address.
  [[nodiscard]] bool same_conditions(const DispatchPayload& a, const DispatchPayload& b) const {
    return std::equal(a.buffer_arguments, a.buffer_arguments + a.buffer_argument_count,
                      b.buffer_arguments, b.buffer_arguments + b.buffer_argument_count,
                      [&](const BufferArgument& x, const BufferArgument& y) {
                        return condition(before_, x.buffer) == condition(after_, y.buffer);
                      });
  }
  // Null for other buffers.
  static const BufferCore* condition(const BoundPlan& of, std::uint32_t buffer) {
    const BufferCore* const core = of.plan.recording->buffers[buffer].get();
    return core->kind == BufferKind::Condition ? core : nullptr;
  }

  Comparison copies(std::uint32_t command) const {
    const auto& a = payload<CopyPayload>(before_, command);
    const auto& b = payload<CopyPayload>(after_, command);
    const bool same_shape = a.extent == b.extent && a.source_pitch == b.source_pitch &&
                            a.destination_pitch == b.destination_pitch;
    // Snapshot bytes are part of the executable.
    if (a.source.is_snapshot() != b.source.is_snapshot()) return Comparison::NotByItself;
    if (a.source.is_snapshot()) {
      if (!same_shape ||
          std::memcmp(a.source.host, b.source.host, *span_bytes(a.extent, a.source_pitch)) != 0)
        return Comparison::NotByItself;
    } else if (address(before_, a.source) != address(after_, b.source)) {
      return different(same_shape, a.extent, b.extent);
    }
    if (same_shape && address(before_, a.destination) == address(after_, b.destination))
      return Comparison::Same;
    return different(same_shape, a.extent, b.extent);
  }
  // The shape of a copy or fill with rows cannot change in place.
  static Comparison different(bool same_shape, const Extent& a, const Extent& b) {
    const bool flat = a.height == 1 && a.depth == 1 && b.height == 1 && b.depth == 1;
    return flat || same_shape ? Comparison::Different : Comparison::NotByItself;
  }

  Comparison fills(std::uint32_t command) const {
    const auto& a = payload<FillPayload>(before_, command);
    const auto& b = payload<FillPayload>(after_, command);
    const bool same_shape =
        a.extent == b.extent && a.pitch == b.pitch && a.element_bytes == b.element_bytes;
    if (same_shape && a.bits == b.bits &&
        address(before_, a.buffer, a.offset) == address(after_, b.buffer, b.offset))
      return Comparison::Same;
    return different(same_shape, a.extent, b.extent);
  }

  Comparison updates(std::uint32_t command) const {
    const auto& a = payload<UpdatePayload>(before_, command);
    const auto& b = payload<UpdatePayload>(after_, command);
    if (a.bytes != b.bytes || std::memcmp(a.data, b.data, a.bytes) != 0)
      return Comparison::NotByItself;
    return address(before_, a.buffer, a.offset) == address(after_, b.buffer, b.offset)
               ? Comparison::Same
               : Comparison::Different;
  }

  Comparison ops(std::uint32_t command) const {
    const auto& a = payload<OpPayload>(before_, command);
    const auto& b = payload<OpPayload>(after_, command);
    if (before_.plan.recording->ops[a.op] != after_.plan.recording->ops[b.op] ||
        a.buffer_count != b.buffer_count)
      return Comparison::NotByItself;
    for (std::uint32_t i = 0; i < a.buffer_count; ++i) {
      if (address(before_, a.buffers[i], 0) != address(after_, b.buffers[i], 0))
        return Comparison::Different;
    }
    return Comparison::Same;
  }

  Comparison bodies(std::uint32_t command) const;

  const BoundPlan &before_, &after_;
  std::vector<std::byte> old_block_, block_;  // scratch
};

// For plans without a difference that find_difference() reports.
std::optional<ChangedNodes> compare_nodes(const BoundPlan& before, const BoundPlan& after) {
  if (before.plan.dependencies.node_command != after.plan.dependencies.node_command)
    return std::nullopt;
  ChangedNodes changed;
  Comparer comparer(before, after);
  for (std::uint32_t node = 0; node < after.plan.lowered.nodes.size(); ++node) {
    const std::uint32_t command = after.plan.command_of(node);
    if (command == kNone) continue;
    const Comparison comparison = comparer.compare(command);
    if (comparison == Comparison::Same) continue;
    changed.nodes.push_back(node);
    if (comparison == Comparison::NotByItself) changed.can_be_set_one_by_one = false;
  }
  return changed;
}

Comparison Comparer::bodies(std::uint32_t command) const {
  const Command &a = before_.plan.recording->commands[command],
                &b = after_.plan.recording->commands[command];
  if (b.kind == CommandKind::Conditional) {
    const auto &x = payload<ConditionalPayload>(before_, command),
               &y = payload<ConditionalPayload>(after_, command);
    if (x.max_iterations != y.max_iterations ||
        condition(before_, x.condition) != condition(after_, y.condition))
      return Comparison::NotByItself;
  }
  const std::span<const Body> old_bodies = bodies_of(a), new_bodies = bodies_of(b);
  for (std::size_t i = 0; i < new_bodies.size(); ++i) {
    const auto inside = [&](const BoundPlan& of, const Body& body) {
      return bindings_of_body(of.plan, body, of.bindings);
    };
    const Bindings old_bindings = inside(before_, old_bodies[i]),
                   bindings = inside(after_, new_bodies[i]);
    const auto changed = compare_nodes({*before_.plan.bodies[old_bodies[i].index], old_bindings},
                                       {*after_.plan.bodies[new_bodies[i].index], bindings});
    if (!changed || !changed->nodes.empty()) return Comparison::NotByItself;
  }
  return Comparison::Same;
}

}  // namespace

std::optional<ChangedNodes> find_changed_nodes(const BoundPlan& before, const BoundPlan& after) {
  if (find_difference(before.plan, after.plan).outcome != GraphExecUpdateOutcome::Success)
    return std::nullopt;
  return compare_nodes(before, after);
}

}  // namespace reprise::detail
