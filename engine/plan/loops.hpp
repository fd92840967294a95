// Loops of a recording and of everything that it runs, numbered in recorded order, each before
// those inside it: by that number both devices count their iterations. Pure functions; know no
// device.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "record/recording.hpp"

namespace reprise::detail {

struct Loop {
  std::string name;           // "while go: iteration"
  std::uint32_t command = 0;  // of the outermost recording: the loop, or what it is inside of
};

[[nodiscard]] std::vector<Loop> loops_of(const Recording& recording);
[[nodiscard]] std::uint32_t count_loops(const Recording& recording);
// How many loops a command is and runs.
[[nodiscard]] std::uint32_t count_loops(const Recording& recording, std::uint32_t command);
// By command: the number of its first loop, where the recording's first one is `first`. Empty where
// the recording runs no other.
[[nodiscard]] std::vector<std::uint32_t> number_loops(const Recording& recording,
                                                      std::uint32_t first);

}  // namespace reprise::detail
