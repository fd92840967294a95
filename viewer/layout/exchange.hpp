// Exchanges adjacent items of a rank where that reduces crossings.
#pragma once

#include <cstdint>

#include "layout/rank_order.hpp"

namespace reprise::viewer {

// for exchanges that keep the number of crossings
enum class EqualExchanges : std::uint8_t { Leave, Make };

struct ExchangeDesc {
  EqualExchanges equal = EqualExchanges::Leave;
  // maximum; after the first pass, only ranks next to a changed rank are processed
  std::uint32_t passes = 1;
};

struct Exchanged {
  std::uint64_t removed = 0;  // crossings
  std::uint64_t work = 0;     // items and links processed
};

// Never exchanges items with a segment between them.
Exchanged exchange_neighbours(const LayeredGraph& graph, RankOrder& order,
                              const ExchangeDesc& desc);

}  // namespace reprise::viewer
