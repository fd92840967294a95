// ScalarTable: the scalar slots of one replica that the application looked up by name. A slot keeps
// its index for the replica's lifetime, also across updates. Threads: the replica's mutex.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "plan/scalar_slots.hpp"

namespace reprise::detail {

class ScalarTable {
 public:
  struct Entry {
    std::string name;
    const ValueType* type;
    std::uint32_t slot;  // of the current plan; kNone: it has no slot of this name and type
  };

  // The index of a slot of `slots`. Throws InvalidArgument if there is none of this name; `graph`
  // is named in the error.
  [[nodiscard]] std::uint32_t find(std::string_view name, const ScalarSlots& slots,
                                   std::string_view graph);
  [[nodiscard]] const Entry& operator[](std::uint32_t index) const { return entries_[index]; }
  // Maps every entry to the slots of another plan.
  void remap(const ScalarSlots& slots) noexcept;

 private:
  std::vector<Entry> entries_;
};

}  // namespace reprise::detail
