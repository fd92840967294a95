// Traces of a graph whose replicas replay concurrently.
#include <doctest/doctest.h>

#include <block_kernels.shaders.hpp>

#include <map>
#include <reprise/reprise.hpp>
#include <set>

#include "unit/profile/traced_run.hpp"

using namespace reprise;
using namespace reprise::test;

namespace {

// Launches on two queues with two replicas. `launched` receives the number and replica of each
// replay.
void replay_twice_at_once(const Device& device, std::size_t replays,
                          std::map<std::uint64_t, std::uint32_t>& launched) {
  const Queue queues[] = {device.create_queue({.label = "a"}), device.create_queue({.label = "b"})};
  const auto pool = device.create_pool({.label = "pool"});
  const auto x = pool->allocate<unsigned>(64, "x", PerReplica{2});
  CommandBuffer cmd = device.create_command_buffer({.label = "step"});
  cmd.begin();
  cmd.fill(x, 1u);
  cmd.dispatch(device.load_kernel(shaders::step), {.grid = 1, .block = 1}, read_write(x), 5u);
  cmd.end();
  CapturedGraph graph = device.compile(cmd, {.pool = pool, .replicas = 2});
  for (std::size_t i = 0; i < replays; ++i) {
    const Fence fence = graph.launch(queues[i % 3 == 0 ? 1 : 0]);
    launched.emplace(fence.replay().value(), fence.replica());
  }
}

}  // namespace

TEST_CASE(
    "traced replicas: replays and samples belong to one graph, each with its executable and its "
    "own number") {
  const TraceFolder folder;
  constexpr std::size_t kReplays = 30;
  std::map<std::uint64_t, std::uint32_t> launched;  // replay number to replica
  {
    const Instance instance({.application = "profile test",
                             .trace = {.target = folder.file(), .profile = ProfileMode::Every}});
    const Device device = instance.open_device(DeviceSelector::named("host"));
    replay_twice_at_once(device, kReplays, launched);
    device.wait_idle();  // all replays are complete
  }
  CHECK(launched.size() == kReplays);
  const trace::Records all = all_records(folder.file());
  REQUIRE(all.graph_versions.size() == 1);
  REQUIRE(all.replays.size() == kReplays);
  std::set<std::uint32_t> queues_of[2];
  for (const trace::Replay& replay : all.replays) {
    CHECK(replay.graph == all.graph_versions[0].graph);
    REQUIRE(launched.count(replay.replay) == 1);
    CHECK(replay.exec == launched[replay.replay]);
    CHECK(replay.ended >= replay.started);
    queues_of[replay.exec % 2].insert(replay.queue);
  }
  CHECK(queues_of[0].size() == 1);
  CHECK(queues_of[1].size() == 1);
  CHECK(queues_of[0] != queues_of[1]);
  REQUIRE(all.sample_blocks.size() == kReplays);
  for (const trace::SampleBlock& block : all.sample_blocks) {
    CHECK(block.exec == launched[block.replay]);
    CHECK(block.samples.size() == all.graph_versions[0].nodes.size());
  }
}
