#include "plan/scalar_slots.hpp"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include <reprise/error.hpp>

#include "base/text.hpp"

namespace reprise::detail {
namespace {

[[noreturn]] void refuse(const Recording& recording, std::uint32_t command, const ScalarSlots::Slot& slot, std::string_view what) {
  ErrorDetails details;
  details.code = ErrorCode::InvalidArgument;
  details.stage = Stage::Plan;
  details.command = command;
  details.label = recording.label_path(recording.commands[command].label);
  throw Error(std::move(details), concat("command ", command, ", ", recording.command_name(command), ": slot \"", slot.name, "\" has ", what,
                                         " here than in command ", slot.first_use, ", ", recording.command_name(slot.first_use),
                                         "; give slots of different values different names"));
}

}  // namespace

std::uint32_t ScalarSlots::find(std::string_view name) const noexcept {
  const auto at = std::find_if(slots.begin(), slots.end(), [&](const Slot& slot) { return slot.name == name; });
  return at == slots.end() ? kNone : static_cast<std::uint32_t>(at - slots.begin());
}

std::span<const ScalarSlots::Use> ScalarSlots::uses_of(std::uint32_t command) const noexcept {
  if (uses.empty()) return {};
  const auto by_command = [](const Use& a, const Use& b) { return a.command < b.command; };
  const auto [first, last] = std::equal_range(uses.begin(), uses.end(), Use{command, 0, 0}, by_command);
  return {first, last};
}

ScalarSlots collect_scalar_slots(const Recording& recording) {
  ScalarSlots found;
  std::unordered_map<std::string_view, std::uint32_t> by_name;
  for (std::uint32_t command = 0; command < recording.commands.size(); ++command) {
    if (recording.commands[command].kind != CommandKind::Dispatch) continue;
    const auto& dispatch = recording.payload<DispatchPayload>(command);
    for (std::uint32_t i = 0; i < dispatch.slot_argument_count; ++i) {
      const SlotArgument& argument = dispatch.slot_arguments[i];
      const std::byte* const value = dispatch.parameters + argument.parameter_offset;
      const auto [at, is_new] = by_name.try_emplace(argument.name, static_cast<std::uint32_t>(found.slots.size()));
      if (is_new) {
        found.slots.push_back({argument.name, argument.bytes, static_cast<std::uint32_t>(found.first_values.size()), command});
        found.first_values.insert(found.first_values.end(), value, value + argument.bytes);
      }
      const ScalarSlots::Slot& slot = found.slots[at->second];
      if (slot.bytes != argument.bytes) refuse(recording, command, slot, "another size");
      if (std::memcmp(found.first_values.data() + slot.offset, value, slot.bytes) != 0) refuse(recording, command, slot, "another first value");
      found.uses.push_back({command, argument.parameter_offset, at->second});
    }
  }
  return found;
}

}  // namespace reprise::detail
