// The order that samples of a block stand in. Threads: pure functions.
#pragma once

#include <vector>

#include "trace/records.hpp"

namespace reprise::trace {

// By start; those that start together stay as they stand. Takes a few ns a sample: replays that are
// traced pay for it.
void sort_by_start(std::vector<Sample>& samples);

}  // namespace reprise::trace
