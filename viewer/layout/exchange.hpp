// Exchanges neighbours in a rank wherever that removes crossings.
#pragma once

#include <cstdint>

#include "layout/rank_order.hpp"

namespace reprise::viewer {

enum class EqualExchanges : std::uint8_t { Leave, Make };  // where the crossings stay the same

struct ExchangeDesc {
  EqualExchanges equal = EqualExchanges::Leave;
  std::uint32_t passes =
      1;  // at most; a pass looks only at ranks beside which the last one changed something
};

struct Exchanged {
  std::uint64_t removed = 0;  // crossings
  std::uint64_t work = 0;     // items and links looked at
};

// Items with a segment between them stay as they are.
Exchanged exchange_neighbours(const LayeredGraph& graph, RankOrder& order,
                              const ExchangeDesc& desc);

}  // namespace reprise::viewer
