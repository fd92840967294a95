// Loops of a recording and of its bodies, numbered in recorded order, outer loops first. Both
// devices count iterations by this number. Knows no device. Threads: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "record/recording.hpp"

namespace reprise::detail {

struct Loop {
  std::string name;           // "while go: iteration"
  std::uint32_t command = 0;  // command of the outermost recording that is or contains the loop
};

[[nodiscard]] std::vector<Loop> loops_of(const Recording& recording);
[[nodiscard]] std::uint32_t count_loops(const Recording& recording);
// Number of loops in a command, including the command itself.
[[nodiscard]] std::uint32_t count_loops(const Recording& recording, std::uint32_t command);
// By command: the number of its first loop. The recording's first loop has the number `first`.
// Empty if the recording has no bodies.
[[nodiscard]] std::vector<std::uint32_t> number_loops(const Recording& recording,
                                                      std::uint32_t first);

}  // namespace reprise::detail
