// Interleaved GPU timing of several graphs on one stream, until their ratios are known precisely.
// Threads: one.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "profiled_graph.hpp"

namespace reprise::bench {

struct Contender {
  std::function<void(std::uint32_t round)> launch;  // one replay on the stream
  std::vector<double> us;                           // per replay, by round
};

struct TurnsDesc {
  // approximate duration of a replay; a sample averages enough replays to last about 2 ms
  double once_us = 0;
  double budget = 1;  // seconds after which no round starts, except to reach min_rounds
  std::uint32_t min_rounds = 20;
};

// contenders[0] is the peer of all others. Each round measures every contender, rotating the first.
// Ends when the confidence intervals of all ratios to the peer are narrow (1 % of the median), or
// the budget is exhausted.
void measure_interleaved(const TimedStream& stream, std::span<Contender> contenders,
                         const TurnsDesc& desc);

}  // namespace reprise::bench
