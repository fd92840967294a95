// What a graph may give up for fewer bytes of transients, and what it gave up. Knows no device.
// Threads: values.
#pragma once

#include <cstdint>

namespace reprise {

// Transients share bytes where edges order their uses, so a graph with less concurrency needs
// fewer. Speed: nothing is given up. Balanced: the fewest bytes with a critical path of at most
// five fourths of Speed's. Least: the fewest bytes found, down to one node at a time. Balanced and
// Least never need more bytes than Speed.
enum class MemoryGoal : std::uint8_t { Speed, Balanced, Least };

// Of a graph lowered for Speed, and of the one that was taken instead; the same where nothing
// better was found.
struct MemoryTradeoff {
  struct Side {
    std::uint64_t slab_bytes = 0;     // transients as they are placed
    std::uint32_t critical_path = 0;  // commands one after the other, at least
    std::uint32_t lanes = 0;          // 0: as many as the commands allow
    friend bool operator==(const Side&, const Side&) = default;
  };
  MemoryGoal goal = MemoryGoal::Speed;
  Side before, after;
};

}  // namespace reprise
