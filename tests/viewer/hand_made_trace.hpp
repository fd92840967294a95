// A hand-made trace with known statistics: two graphs, concurrent nodes on one worker, a lost time,
// an update, a message and a loss. Threads: one at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

#include "trace/records.hpp"

namespace reprise::test {

struct HandMadeTrace {
  static constexpr std::uint32_t kStep = 3, kOther = 8;  // graphs
  static constexpr std::uint32_t kNodes = 5;             // per graph
  static constexpr std::uint64_t kStepReplays = 40, kOtherReplays = 10;
  static constexpr trace::Time kBegin = 7'000'000'000'123;

  std::uint32_t slow_node = 0xffffffffu;  // node of "step" whose times are 1.5 times as long
  std::uint32_t renamed_node = 0xffffffffu;
  bool samples = true;
};

// Replays of "step": node n of 0 to 4 takes (n + 1) us plus replay % 7 ns; nodes 1 and 2 overlap on
// worker 0 by half of node 1's time. The third replay lacks the time of node 4.
void write_hand_made_trace(const std::filesystem::path& path, const HandMadeTrace& options = {});

// The time of a node in a replay of "step", in ns.
[[nodiscard]] constexpr trace::Time hand_made_time(std::uint32_t node, std::uint64_t replay) {
  return (static_cast<trace::Time>(node) + 1) * 1'000 + static_cast<trace::Time>(replay % 7);
}

}  // namespace reprise::test
