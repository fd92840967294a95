#include "plan/scalar_slots.hpp"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include <reprise/error.hpp>

#include "base/text.hpp"
#include "record/payload.hpp"

namespace reprise::detail {
namespace {

[[noreturn]] void refuse(const Recording& recording, std::uint32_t command,
                         const ScalarSlots::Slot& slot, std::string_view what) {
  ErrorDetails details;
  details.code = ErrorCode::InvalidArgument;
  details.stage = Stage::Plan;
  details.command = command;
  details.label = recording.label_path(recording.commands[command].label);
  throw Error(std::move(details),
              concat("command ", command, ", ", recording.command_name(command), ": slot \"",
                     slot.name, "\" has ", what, " here than in command ", slot.first_use, ", ",
                     recording.command_name(slot.first_use),
                     "; give slots of different values different names"));
}

}  // namespace

std::uint32_t ScalarSlots::find(std::string_view name) const noexcept {
  const auto at =
      std::find_if(slots.begin(), slots.end(), [&](const Slot& slot) { return slot.name == name; });
  return at == slots.end() ? kNone : static_cast<std::uint32_t>(at - slots.begin());
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
  ScalarSlots found;
  std::unordered_map<std::string_view, std::uint32_t> by_name;
  // The slot of this name, which has such a value at first.
  const auto slot_of = [&](std::uint32_t command, std::string_view name,
                           std::span<const std::byte> value) {
    const auto bytes = static_cast<std::uint32_t>(value.size());
    const auto [at, is_new] =
        by_name.try_emplace(name, static_cast<std::uint32_t>(found.slots.size()));
    if (is_new) {
      found.slots.push_back(
          {name, bytes, static_cast<std::uint32_t>(found.first_values.size()), command});
      found.first_values.insert(found.first_values.end(), value.begin(), value.end());
    }
    const ScalarSlots::Slot& slot = found.slots[at->second];
    if (slot.bytes != bytes) refuse(recording, command, slot, "another size");
    if (std::memcmp(found.first_values.data() + slot.offset, value.data(), slot.bytes) != 0)
      refuse(recording, command, slot, "another first value");
    return at->second;
  };
  found.in_bodies.resize(bodies.size());
  for (std::uint32_t command = 0; command < recording.commands.size(); ++command) {
    for (const Body& body : bodies_of(recording.commands[command])) {
      if (body.index >= bodies.size()) continue;
      const ScalarSlots& inside = *bodies[body.index];
      for (const ScalarSlots::Slot& slot : inside.slots) {
        const std::uint32_t own =
            slot_of(command, slot.name, {inside.first_values.data() + slot.offset, slot.bytes});
        found.in_bodies[body.index].push_back(own);
        found.uses.push_back({command, ScalarSlots::kInside, own});
      }
    }
    if (recording.commands[command].kind != CommandKind::Dispatch) continue;
    const auto& dispatch = recording.payload<DispatchPayload>(command);
    for (std::uint32_t i = 0; i < dispatch.slot_argument_count; ++i) {
      const SlotArgument& argument = dispatch.slot_arguments[i];
      const std::uint32_t slot =
          slot_of(command, argument.name,
                  {dispatch.parameters + argument.parameter_offset, argument.bytes});
      found.uses.push_back({command, argument.parameter_offset, slot});
    }
  }
  return found;
}

}  // namespace reprise::detail
