// MemoryGoal: how much concurrency a graph gives up for a smaller slab of transients.
// MemoryTradeoff: the result. Must not depend on a device. Threads: values.
#pragma once

#include <cstdint>
#include <string_view>

#include <reprise/abi.hpp>

namespace reprise::inline REPRISE_ABI {

// Transients share bytes only if edges order their uses, so less concurrency needs less memory.
enum class MemoryGoal : std::uint8_t {
  Speed,     // gives up no concurrency
  Balanced,  // the smallest slab with a critical path of at most 5/4 of Speed's
  // The smallest slab found, down to one node at a time; never larger than Balanced's, nor than
  // that of Lowering::Lanes with 1, 2, 4 ... 128 lanes.
  Minimum
};
[[nodiscard]] REPRISE_API std::string_view to_string(MemoryGoal goal) noexcept;

// The graph as lowered for Speed, and the graph that was chosen. Both are equal if no smaller slab
// was found. With MemoryGoal::Speed only `goal` is set.
struct MemoryTradeoff {
  struct Side {
    std::uint64_t slab_bytes = 0;
    std::uint32_t critical_path = 0;  // commands on the longest path
    std::uint32_t lanes = 0;          // 0: unlimited
    friend bool operator==(const Side&, const Side&) = default;
  };
  MemoryGoal goal = MemoryGoal::Speed;
  Side before, after;
};

}  // namespace reprise::inline REPRISE_ABI
