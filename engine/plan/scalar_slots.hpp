// ScalarSlots: the named scalar arguments of a recording and its bodies that a graph can update,
// and their locations. Knows no device. Threads: values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "record/recording.hpp"

namespace reprise::detail {

struct ScalarSlots {
  struct Slot {
    std::string_view name;  // in the recording's arenas
    const ValueType* type = nullptr;
    std::uint32_t offset = 0;     // in `first_values`, bytes
    std::uint32_t first_use = 0;  // command
  };
  // A location in the parameter block of a command; kInBody: inside the command's bodies.
  static constexpr std::uint32_t kInBody = kNone;
  struct Use {
    std::uint32_t command = 0, parameter_offset = 0, slot = 0;
  };
  std::vector<Slot> slots;  // in order of first use
  std::vector<Use> uses;    // ascending by command
  std::vector<std::byte> first_values;
  // By body of the recording: the slots here that correspond to the slots of the body's plan.
  std::vector<std::vector<std::uint32_t>> in_bodies;

  // Returns kNone for an unknown name.
  [[nodiscard]] std::uint32_t find(std::string_view name) const noexcept;
  [[nodiscard]] std::span<const Use> uses_of(std::uint32_t command) const noexcept;
};

// `bodies`: slots of the recording's bodies. Throws InvalidArgument (Stage::Plan), naming both
// commands, if one name has values of different types or different initial values.
[[nodiscard]] ScalarSlots collect_scalar_slots(const Recording& recording,
                                               std::span<const ScalarSlots* const> bodies = {});

}  // namespace reprise::detail
