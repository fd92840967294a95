#include "base/block_interval.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>

using reprise::detail::BlockInterval;

TEST_CASE("block interval: the text names one block, several or all") {
  CHECK(to_text(BlockInterval{1, 1, 0, 0}) == "block b");
  CHECK(to_text(BlockInterval{1, 1, -1, 1}) == "blocks b - 1 to b + 1");
  CHECK(to_text(BlockInterval{2, 1, 0, 1}) == "blocks 2 b to 2 b + 1");
  CHECK(to_text(BlockInterval{1, 4, 2, 2}) == "block floor((b + 2) / 4)");
  CHECK(to_text(BlockInterval{0, 1, 0, 3}) == "blocks 0 to 3");
  CHECK(to_text(BlockInterval{}) == "all blocks");
}

// As a damaged trace can have.
TEST_CASE("block interval: every number has a text") {
  constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();
  CHECK(to_text(BlockInterval{kLowest, 1, kLowest, kLowest}) ==
        "block -9223372036854775808 b - 9223372036854775808");
}
