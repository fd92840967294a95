// merge: the lists of all recorders of one command buffer become one Recording. The result does not
// tell how many recorders made it: the same commands in the same order give the same recording,
// indices included. Threads: pure, but for the payloads, whose indices are rewritten where they
// lie.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "record/recorded_lists.hpp"
#include "record/recording.hpp"

namespace reprise::detail {

// A run of one recorder's commands in recorded order.
struct Segment {
  const RecordedLists* lists = nullptr;
  std::uint32_t first = 0, count = 0;  // commands of that recorder
};

// Segments of one recorder are in its own order and cover all of its commands. `into` has its
// label, ordering, level, device and generation; the rest is filled in. Throws InvalidArgument
// (Stage::Record) where an edge names a command that no recorder has; a failed merge has changed no
// list.
void merge(std::span<const Segment> segments, Recording& into);

}  // namespace reprise::detail
