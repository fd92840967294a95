#include "inspect/statistics.hpp"

#include <doctest/doctest.h>

namespace reprise::test::statistics_test {

using detail::ContentRows;
using detail::dense;

TEST_CASE("inspection statistics: rows without bytes between them are one row") {
  CHECK(dense({.width = 40}, ContentType::F32).width == 40);
  CHECK(dense({.width = 8, .height = 5, .row_pitch = 8}, ContentType::F64).width == 40);
  CHECK(dense({.width = 8, .height = 1, .depth = 5, .slice_pitch = 8}, ContentType::F32).width ==
        40);
  const ContentRows all = dense(
      {.width = 8, .height = 5, .depth = 3, .row_pitch = 8, .slice_pitch = 40}, ContentType::I8);
  CHECK(all.width == 120);
  CHECK(all.height * all.depth == 1);
}

TEST_CASE("inspection statistics: other rows stay as they are") {
  CHECK(dense({.width = 8, .height = 5, .row_pitch = 12}, ContentType::F32).height == 5);
  CHECK(dense({.width = 8, .height = 5, .depth = 3, .row_pitch = 8, .slice_pitch = 48},
              ContentType::F32)
            .height == 5);
  // Each row ends with bytes that are no value.
  CHECK(dense({.width = 6, .height = 4, .row_pitch = 6}, ContentType::F32).height == 4);
}

TEST_CASE("inspection statistics: a block per 16,384 values, at least 1 and at most 256") {
  const auto blocks = [](std::uint64_t values) {
    return detail::statistics_dispatch({.width = 4 * values}, ContentType::F32).grid.x;
  };
  CHECK(blocks(0) == 1);
  CHECK(blocks(16384) == 1);
  CHECK(blocks(16385) == 2);
  CHECK(blocks(std::uint64_t{1} << 40) == detail::kMaxStatisticsBlocks);
}

}  // namespace reprise::test::statistics_test
