// ReplayNumbers: from timestamp numbers to replay numbers, across stretches without timestamps.
// Needs no GPU.
#include <doctest/doctest.h>

#include "backend/cuda/timing/replay_numbers.hpp"

namespace reprise::test {

using detail::ReplayNumbers;

TEST_CASE("replay numbers: numbers are equal if every launch has timestamps") {
  ReplayNumbers numbers;
  for (std::uint64_t replay = 1; replay <= 1000; ++replay) CHECK(numbers.replay(replay) == replay);
}

TEST_CASE("replay numbers: launches without timestamps are skipped, any number of times") {
  ReplayNumbers numbers;
  numbers.skip(11, 5);   // 1..10, then five without, then 16..
  numbers.skip(14, 12);  // 16..18, then seven more without, then 26..
  for (std::uint64_t timestamped = 1; timestamped <= 10; ++timestamped)
    CHECK(numbers.replay(timestamped) == timestamped);
  CHECK(numbers.replay(11) == 16);
  CHECK(numbers.replay(13) == 18);
  CHECK(numbers.replay(14) == 26);
  CHECK(numbers.replay(100) == 112);
}

TEST_CASE("replay numbers: a repeated skip for the same launch replaces the previous one") {
  ReplayNumbers numbers;
  numbers.skip(3, 1);
  numbers.skip(3, 4);
  CHECK(numbers.replay(2) == 2);
  CHECK(numbers.replay(3) == 7);
}

TEST_CASE(
    "replay numbers: beyond the capacity the oldest stretches are dropped and never guessed") {
  ReplayNumbers numbers;
  constexpr std::uint64_t kMore = 3 * ReplayNumbers::kStretches;
  for (std::uint64_t i = 1; i <= kMore; ++i) numbers.skip(1 + 10 * i, i);
  std::uint64_t forgotten = 0;
  for (std::uint64_t timestamped = 1; timestamped <= 10 * kMore; ++timestamped) {
    const std::uint64_t replay = numbers.replay(timestamped);
    if (replay == 0) {
      ++forgotten;
      continue;
    }
    CHECK(replay == timestamped + (timestamped - 1) / 10);
  }
  CHECK(forgotten == 10 * (kMore - ReplayNumbers::kStretches + 1));
}

TEST_CASE("replay numbers: a lookup frees the stretches before it") {
  ReplayNumbers numbers;
  for (std::uint64_t i = 1; i <= 1000; ++i) {
    numbers.skip(1 + 10 * i, i);
    CHECK(numbers.replay(10 * i) == 10 * i + i - 1);
  }
}

}  // namespace reprise::test
