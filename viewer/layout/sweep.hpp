// One sweep over the ranks: each is put in order by where its neighbours in the rank before stand.
// Segments keep the order in which they begin, so a sweep costs nothing for the ranks that they
// pass.
#pragma once

#include <cstdint>

#include "layout/rank_order.hpp"

namespace reprise::viewer {

enum class SweepDirection : std::uint8_t { Down, Up };
enum class SweepMeasure : std::uint8_t { Mean, Median };
enum class SweepTies : std::uint8_t {
  Keep,
  Reverse
};  // the former order of items that stand equal

struct SweepDesc {
  SweepDirection direction = SweepDirection::Down;
  SweepMeasure measure = SweepMeasure::Mean;
  SweepTies ties = SweepTies::Keep;
};

// Only the first rank of the sweep has to be right in `order`, with no gaps; of the others it reads
// the places.
void sweep(const LayeredGraph& graph, RankOrder& order, const SweepDesc& desc);

}  // namespace reprise::viewer
