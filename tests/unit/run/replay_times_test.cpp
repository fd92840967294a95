#include "run/replay_times.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

using namespace reprise::detail;
using Nodes = ReplayTimes::Nodes;

namespace {

// Two nodes behind a frame, the second schedule node first.
Plan two_nodes() {
  Plan plan;
  plan.recording = std::make_shared<const Recording>();
  plan.lowered.nodes.resize(4);
  plan.lowered.nodes[1].schedule_node = 1;
  plan.lowered.nodes[2].schedule_node = 0;
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

TEST_CASE("replay times: as many replays as were asked for are noted, those that were abandoned left out") {
  ReplayTimes times(two_nodes());
  replay(times, 5, 0, 0);  // nobody asked
  CHECK_FALSE(times.is_full());
  times.open(2, Nodes::No);
  CHECK(times.begin_replay(1) == nullptr);
  times.end_replay(1, 10, 0, nullptr);
  replay(times, 7, 0, 0);
  CHECK(times.noted() == 1);
  replay(times, 9, 0, 0);
  replay(times, 11, 0, 0);
  CHECK(times.is_full());
  CHECK(times.durations() == std::vector<double>{7, 9});
}

TEST_CASE("replay times: costs are medians by schedule node, less what noting them takes") {
  ReplayTimes times(two_nodes());
  times.open(3, Nodes::Yes);
  times.end_replay(1, 10, 20, nullptr);  // its nodes were not timed
  replay(times, 100, 40, 5);
  replay(times, 100, 60, 5);
  replay(times, 100, 50, 5);
  CHECK(times.is_full());
  CHECK(times.node_costs(0) == std::vector<std::uint32_t>{50, 5});
  CHECK(times.node_costs(20) == std::vector<std::uint32_t>{30, 0});
  times.close();
  CHECK(times.begin_replay(1) == nullptr);
}

TEST_CASE("replay times: windows are opened and read beside the replays") {
  ReplayTimes times(two_nodes());
  std::atomic<bool> stop{false};
  std::thread replays([&] {
    while (!stop.load()) replay(times, 8, 3, 4);
  });
  for (int round = 0; round < 6; ++round) {
    times.open(20, round % 2 == 0 ? Nodes::Yes : Nodes::No);
    while (!times.is_full()) std::this_thread::yield();
    for (const double duration : times.durations()) CHECK(duration == 8);
    if (round % 2 == 0) CHECK(times.node_costs(0) == std::vector<std::uint32_t>{3, 4});
  }
  stop.store(true);
  replays.join();
}
