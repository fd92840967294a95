// Determines the ranges whose values an inspection reads: after each command those that it writes,
// and before a command those that it is the first to access. Knows no device. Threads: pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <reprise/inspection.hpp>

#include "record/recording.hpp"

namespace reprise::detail {

struct InspectedValues {
  struct Range {
    std::uint32_t position = 0;  // in the order
    bool is_before = false;      // read before the command at `position`, otherwise after it
    std::uint32_t buffer = 0;    // of the recording
    std::uint64_t begin = 0, end = 0;
    Extent extent = {};
    Pitch pitch = {};  // never 0
    ContentType type = ContentType::Bytes;
  };
  std::vector<Range> ranges;  // in order of execution
  // By position: indices in `ranges` of the latest values that share bytes with each declared read.
  std::vector<std::vector<std::uint32_t>> inputs;
};

// `order`: commands, each once.
[[nodiscard]] InspectedValues inspected_values(const Recording& recording,
                                               std::span<const std::uint32_t> order);

// The type of a kernel's or op's elements: of vectors the type of their components.
[[nodiscard]] ContentType content_type_of(const ValueType& type) noexcept;

}  // namespace reprise::detail
