#include "plan/scalar_slots.hpp"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include <reprise/error.hpp>

#include "base/text.hpp"
#include "record/payload.hpp"

namespace reprise::detail {
namespace {

[[noreturn]] void fail_conflict(const Recording& recording, std::uint32_t command,
                                const ScalarSlots::Slot& slot, std::string_view difference) {
  ErrorDetails details;
  details.code = ErrorCode::InvalidArgument;
  details.stage = Stage::Plan;
  details.command = command;
  details.label = recording.label_path(recording.commands[command].label);
  throw Error(std::move(details),
              concat("command ", command, ", ", recording.command_name(command), ": slot \"",
                     slot.name, "\" has a different ", difference, " than in command ",
                     slot.first_use, ", ", recording.command_name(slot.first_use),
                     "; use different slot names for different values"));
}

}  // namespace

std::uint32_t ScalarSlots::find(std::string_view name) const noexcept {
  const auto entry =
      std::find_if(slots.begin(), slots.end(), [&](const Slot& slot) { return slot.name == name; });
  return entry == slots.end() ? kNone : static_cast<std::uint32_t>(entry - slots.begin());
}

std::span<const ScalarSlots::Use> ScalarSlots::uses_of(std::uint32_t command) const noexcept {
  if (uses.empty()) return {};
  const auto by_command = [](const Use& a, const Use& b) { return a.command < b.command; };
  const auto [first, last] =
      std::equal_range(uses.begin(), uses.end(), Use{command, 0, 0}, by_command);
  return {first, last};
}

ScalarSlots collect_scalar_slots(const Recording& recording,
                                 std::span<const ScalarSlots* const> bodies) {
  ScalarSlots result;
  std::unordered_map<std::string_view, std::uint32_t> by_name;
  // Finds or creates the slot of this name with this initial value.
  const auto slot_of = [&](std::uint32_t command, std::string_view name, const ValueType& type,
                           const std::byte* value) {
    const auto [entry, is_new] =
        by_name.try_emplace(name, static_cast<std::uint32_t>(result.slots.size()));
    if (is_new) {
      result.slots.push_back(
          {name, &type, static_cast<std::uint32_t>(result.first_values.size()), command});
      result.first_values.insert(result.first_values.end(), value, value + type.size);
    }
    const ScalarSlots::Slot& slot = result.slots[entry->second];
    if (!(*slot.type == type)) fail_conflict(recording, command, slot, "type");
    if (std::memcmp(result.first_values.data() + slot.offset, value, type.size) != 0)
      fail_conflict(recording, command, slot, "initial value");
    return entry->second;
  };
  result.in_bodies.resize(bodies.size());
  for (std::uint32_t command = 0; command < recording.commands.size(); ++command) {
    for (const Body& body : bodies_of(recording.commands[command])) {
      if (body.index >= bodies.size()) continue;
      const ScalarSlots& body_slots = *bodies[body.index];
      for (const ScalarSlots::Slot& slot : body_slots.slots) {
        const std::uint32_t outer_slot =
            slot_of(command, slot.name, *slot.type, body_slots.first_values.data() + slot.offset);
        result.in_bodies[body.index].push_back(outer_slot);
        result.uses.push_back({command, ScalarSlots::kInBody, outer_slot});
      }
    }
    if (recording.commands[command].kind != CommandKind::Dispatch) continue;
    const auto& dispatch = recording.payload<DispatchPayload>(command);
    for (std::uint32_t i = 0; i < dispatch.slot_argument_count; ++i) {
      const SlotArgument& argument = dispatch.slot_arguments[i];
      const std::uint32_t slot = slot_of(command, argument.name, *argument.type,
                                         dispatch.parameters + argument.parameter_offset);
      result.uses.push_back({command, argument.parameter_offset, slot});
    }
  }
  return result;
}

}  // namespace reprise::detail
