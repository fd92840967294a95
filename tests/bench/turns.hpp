// GPU times of several graphs on one stream, taken in turns until it is known how they compare.
// Threads: one.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "profiled_graph.hpp"

namespace reprise::bench {

struct Contender {
  std::function<void(std::uint32_t round)> launch;  // one replay, on the stream
  std::vector<double> us;                           // of one replay, by round
};

struct TurnsDesc {
  double once_us = 0;  // about what a replay takes; so many give one figure that it is of two
                       // milliseconds, where one takes no longer
  double budget = 1;   // seconds, after which no round begins but the least
  std::uint32_t least = 20;
};

// [0] is the peer of all others. In each round every contender is measured, each first in its turn;
// the end is where the intervals of all ratios to the peer are narrow (1 % of the median), or the
// budget is used.
void take_turns(const TimedStream& stream, std::span<Contender> contenders, const TurnsDesc& desc);

}  // namespace reprise::bench
