// ScalarSlots: the values of a recording's dispatches, and of those of the recordings that it runs,
// that its graph can be given anew, by name, and where each of them goes. Knows no device. Threads:
// values.
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
    std::uint32_t bytes = 0;
    std::uint32_t offset = 0;     // of its value in `first_values`
    std::uint32_t first_use = 0;  // command
  };
  // A place in the parameter block of one command, or, at kInside, somewhere in what it runs.
  static constexpr std::uint32_t kInside = kNone;
  struct Use {
    std::uint32_t command = 0, parameter_offset = 0, slot = 0;
  };
  std::vector<Slot> slots;  // in order of first use
  std::vector<Use> uses;    // ascending by command
  std::vector<std::byte> first_values;
  std::vector<std::vector<std::uint32_t>>
      in_bodies;  // by body of the recording: which slots here those of its plan are

  [[nodiscard]] std::uint32_t find(
      std::string_view name) const noexcept;  // kNone: there is none of this name
  [[nodiscard]] std::span<const Use> uses_of(std::uint32_t command) const noexcept;
};

// `bodies`: of the recording's bodies. Throws InvalidArgument (Stage::Plan) where one name stands
// for values of two sizes, or with two first values, naming both commands.
[[nodiscard]] ScalarSlots collect_scalar_slots(const Recording& recording,
                                               std::span<const ScalarSlots* const> bodies = {});

}  // namespace reprise::detail
