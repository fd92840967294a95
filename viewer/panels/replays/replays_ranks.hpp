// RankSeries: the device times of the same replays on all ranks whose graphs run the collectives of
// the shown one. Performs no drawing. Threads: immutable values; a pure function for the
// background.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/matching_graphs.hpp"
#include "panels/replays/replays_series.hpp"

namespace reprise::viewer {

inline constexpr std::size_t kMaxRankLines = 16;  // further ranks are in the band

// All series have the indices of the shown graph's replays.
struct RankSeries {
  struct Line {
    std::uint32_t session = 0;
    std::string name;  // "rank 3"
    ReplaySeries times;
    bool is_shown = false;  // of the shown graph
  };
  // The session with an extreme time of one replay; time -1: unknown.
  struct Extreme {
    std::uint32_t session = 0;
    trace::Time time = -1;
  };
  model::GraphKey graph;          // the shown one
  std::vector<Line> lines;        // by rank; empty: no other rank runs the graph
  std::size_t others = 0;         // ranks of the band
  ReplaySeries low, high;         // the band: min and max over its ranks
  std::vector<Extreme> min, max;  // by replay, over all ranks
};
// O(replays of all ranks).
[[nodiscard]] RankSeries make_rank_series(const model::Document& document, model::GraphKey shown);

}  // namespace reprise::viewer
