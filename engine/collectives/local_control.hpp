// LocalControl: RankControl between threads of one process. Threads: any.
#pragma once

#include <memory>
#include <vector>

#include "collectives/rank_control.hpp"

namespace reprise::detail {

// By rank. A rank whose control is destroyed has left; all_gather() with it throws.
[[nodiscard]] std::vector<std::shared_ptr<RankControl>> make_local_controls(std::uint32_t size);

}  // namespace reprise::detail
