#include "runtime/graph/scalar_table.hpp"

#include "base/failure.hpp"
#include "base/text.hpp"
#include "record/command.hpp"

namespace reprise::detail {

std::uint32_t ScalarTable::find(std::string_view name, const ScalarSlots& slots,
                                std::string_view graph) {
  for (std::uint32_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].name == name) return i;
  }
  const std::uint32_t slot = slots.find(name);
  if (slot == kNone) {
    std::string names;
    for (const ScalarSlots::Slot& known : slots.slots)
      names += concat(names.empty() ? "" : ", ", known.name);
    fail(ErrorCode::InvalidArgument, Stage::Launch, graph,
         concat("graph ", graph, " has no scalar slot \"", name, "\"; ",
                names.empty() ? "it has none" : concat("it has ", names)));
  }
  entries_.push_back({std::string(name), slots.slots[slot].type, slot});
  return static_cast<std::uint32_t>(entries_.size() - 1);
}

void ScalarTable::remap(const ScalarSlots& slots) noexcept {
  for (Entry& entry : entries_) {
    const std::uint32_t slot = slots.find(entry.name);
    entry.slot = slot != kNone && *slots.slots[slot].type == *entry.type ? slot : kNone;
  }
}

}  // namespace reprise::detail
