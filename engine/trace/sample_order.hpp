// Sorts the samples of a block. Threads: pure functions.
#pragma once

#include <vector>

#include "trace/records.hpp"

namespace reprise::trace {

// Sorts by start; stable. Linear time for spans below 2^32 ns: a few ns per sample, because every
// traced replay pays for it.
void sort_by_start(std::vector<Sample>& samples);

}  // namespace reprise::trace
