// BlockInterval: the blocks of one command that block b of another depends on, and their text.
// Plans and traces have the same. Threads: pure functions.
#pragma once

#include <cstdint>
#include <string>

namespace reprise::detail {

// floor((factor * b + low) / divisor) to floor((factor * b + high) / divisor); divisor 0: all
// blocks.
struct BlockInterval {
  std::int64_t factor = 0, divisor = 0;
  std::int64_t low = 0, high = 0;
};
// "block b", "blocks b - 1 to b + 1", "all blocks"
[[nodiscard]] std::string to_text(const BlockInterval& interval);

}  // namespace reprise::detail
