// One sweep over the ranks: orders each rank by the positions of its neighbours in the previous
// one. Segments keep the order in which they start, so a sweep costs nothing for the ranks they
// pass.
#pragma once

#include <cstdint>

#include "layout/rank_order.hpp"

namespace reprise::viewer {

enum class SweepDirection : std::uint8_t { Down, Up };
enum class SweepMeasure : std::uint8_t { Mean, Median };
enum class SweepTies : std::uint8_t {
  Keep,
  // the order of items with equal measure, relative to the previous order
  Reverse
};

struct SweepDesc {
  SweepDirection direction = SweepDirection::Down;
  SweepMeasure measure = SweepMeasure::Mean;
  SweepTies ties = SweepTies::Keep;
};

// `order` must be correct, without gaps, for the first rank of the sweep; of the other ranks the
// sweep reads only the indices.
void sweep(const LayeredGraph& graph, RankOrder& order, const SweepDesc& desc);

}  // namespace reprise::viewer
