// merge: combines the lists of all recorders of one command buffer into one Recording. The result
// depends only on the commands and their order, including all indices, and not on the number of
// recorders. Threads: pure, except that payload indices are rewritten in place.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "record/recorded_lists.hpp"
#include "record/recording.hpp"

namespace reprise::detail {

// Consecutive commands of one recorder.
struct CommandRun {
  const RecordedLists* lists = nullptr;
  std::uint32_t first = 0, count = 0;  // commands of that recorder
};

// The runs of each recorder are in its recorded order and cover all of its commands. The caller
// sets label, ordering, level, device and generation of `into`; merge fills in the other members.
// Throws InvalidArgument (Stage::Record) if an edge names an unknown command, or beyond
// Recorder::kMaxNestedCommands; the lists are then unchanged.
void merge(std::span<const CommandRun> runs, Recording& into);

}  // namespace reprise::detail
