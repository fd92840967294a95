// Exchanges neighbours in a rank wherever that removes crossings.
#pragma once

#include "layout/rank_order.hpp"

namespace reprise::viewer {

enum class EqualExchanges : std::uint8_t { Leave, Make };  // where the crossings stay the same

// One pass over all ranks; returns how many crossings it removed. Items with a segment between them stay as they are.
std::uint64_t exchange_neighbours(const LayeredGraph& graph, RankOrder& order, EqualExchanges equal);

}  // namespace reprise::viewer
