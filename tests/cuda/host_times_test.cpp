// HostTimes: the times of host callbacks. Needs no GPU.
#include <doctest/doctest.h>

#include <memory>

#include "backend/cuda/graph/host_callbacks.hpp"

namespace reprise::detail {

TEST_CASE(
    "host times: the span of a recent replay is found; one that did not run or was overwritten is "
    "not") {
  const auto times = std::make_unique<HostTimes>();
  CHECK_FALSE(times->find(1));
  times->record(1, {100, 150});
  times->record(2, {200, 260});
  REQUIRE(times->find(2));
  CHECK(times->find(2)->started == 200);
  CHECK(times->find(2)->ended == 260);
  CHECK_FALSE(times->find(3));
  times->record(1 + TimestampRing::kSlots, {900, 950});
  CHECK_FALSE(times->find(1));
  CHECK(times->find(1 + TimestampRing::kSlots)->started == 900);
}

TEST_CASE("host times: a callback is timed from the request on and keeps its replay numbers") {
  HostCallbacks calls;
  int ran = 0;
  const std::function<void()> function = [&] { ++ran; };
  HostCallbacks::Call* const call = calls.add(function, 7);
  HostCallbacks::run(call);
  const auto times = calls.time(7);
  CHECK_FALSE(times->find(1));
  HostCallbacks::run(call);
  CHECK(ran == 2);
  REQUIRE(times->find(2));
  CHECK(times->find(2)->started > 0);
  CHECK(times->find(2)->ended >= times->find(2)->started);
  CHECK(calls.time(7) == times);
}

}  // namespace reprise::detail
