// Which commands of two recordings touch the same bytes of the same buffers, in the same order. A pure function.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "record/recording.hpp"

namespace reprise::detail {

struct MatchedCommands {
  std::vector<std::uint32_t> before_of;     // by command: the one of the recording before that it is; kNone: there is none. Ascending
  std::vector<std::uint32_t> now_of;        // the other way round
  std::vector<std::uint32_t> buffer_now;    // by buffer of the recording before: its number now; kNone: it is not there
};

// Nothing where more than an eighth of the commands, and more than a few, have no counterpart. What commands do besides may differ.
// O(commands + accesses + buffers).
[[nodiscard]] std::optional<MatchedCommands> match_commands(const Recording& now, const Recording& before);

}  // namespace reprise::detail
