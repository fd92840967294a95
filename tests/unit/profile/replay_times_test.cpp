#include "profile/replay_times.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <memory>
#include <vector>

using namespace reprise::detail;

namespace {

// Two nodes between entry and exit kernels; the second schedule node comes first.
Plan two_nodes() {
  Plan plan;
  plan.recording = std::make_shared<const Recording>();
  plan.lowered.nodes.resize(4);
  plan.lowered.nodes[1].dependency_node = 1;
  plan.lowered.nodes[2].dependency_node = 0;
  plan.lowered.node_of = {2, 1};
  return plan;
}

void replay(ReplayTimes& times, std::int64_t took, std::uint32_t first, std::uint32_t second) {
  NodeTime* const nodes = times.begin_replay(1);
  if (nodes != nullptr) {
    nodes[2] = {10, first, 1};
    nodes[1] = {10, second, 1};
  }
  times.end_replay(1, 10, 10 + took, nodes);
}

}  // namespace

TEST_CASE(
    "replay times: the requested number of replays is recorded, and abandoned replays are "
    "ignored") {
  ReplayTimes times(two_nodes());
  replay(times, 5, 0, 0);  // before open()
  CHECK_FALSE(times.is_full());
  CHECK(times.noted() == 0);
  times.open(2);
  NodeTime* const abandoned = times.begin_replay(1);
  REQUIRE(abandoned != nullptr);
  times.end_replay(1, 10, 0, abandoned);
  replay(times, 7, 3, 4);
  CHECK(times.noted() == 1);
  CHECK_FALSE(times.is_full());
  replay(times, 9, 5, 6);
  CHECK(times.is_full());
  CHECK(times.begin_replay(1) == nullptr);
  replay(times, 11, 0, 0);
  CHECK(times.noted() == 2);
}

TEST_CASE("replay times: costs are medians by schedule node, less the recording overhead") {
  ReplayTimes times(two_nodes());
  times.open(3);
  times.end_replay(1, 10, 20, nullptr);  // without node times
  replay(times, 100, 40, 5);
  replay(times, 100, 60, 5);
  replay(times, 100, 50, 5);
  CHECK(times.is_full());
  CHECK(times.node_costs(0) == std::vector<std::uint32_t>{50, 5});
  CHECK(times.node_costs(20) == std::vector<std::uint32_t>{30, 0});
  CHECK(times.begin_replay(1) == nullptr);
}
