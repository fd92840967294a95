#include <doctest/doctest.h>

#include <block_kernels.shaders.hpp>

#include <set>

#include <reprise/reprise.hpp>

#include "profile/graph_versions.hpp"
#include "unit/profile/traced_run.hpp"

using namespace reprise;
using namespace reprise::test;
using detail::GraphVersions;

TEST_CASE("graph versions: each hash has one number, also when it recurs") {
  GraphVersions versions;
  CHECK(versions.current() == 0);
  CHECK(versions.select(77) == GraphVersions::Found::New);
  CHECK(versions.current() == 1);
  CHECK(versions.select(88) == GraphVersions::Found::New);
  CHECK(versions.current() == 2);
  CHECK(versions.select(77) == GraphVersions::Found::Known);
  CHECK(versions.current() == 1);
}

TEST_CASE(
    "graph versions: the number of versions is limited, the limit is reported once, and known "
    "versions stay usable") {
  GraphVersions versions;
  for (std::uint64_t hash = 1; hash <= GraphVersions::kMost; ++hash)
    CHECK(versions.select(hash) == GraphVersions::Found::New);
  CHECK(versions.select(GraphVersions::kMost + 1) == GraphVersions::Found::Full);
  CHECK(versions.current() == GraphVersions::kMost);
  CHECK(versions.report_full_once());
  CHECK_FALSE(versions.report_full_once());
  CHECK(versions.select(5) == GraphVersions::Found::Known);
  CHECK(versions.current() == 5);
}

TEST_CASE(
    "traced updates: an update creates a version of the graph, and later replays refer to it") {
  const TraceFolder folder;
  {
    const Instance instance(
        {.application = "test", .trace = {.target = folder.file(), .profile = ProfileMode::Every}});
    const Device device = instance.open_device(DeviceSelector::named("host"));
    {
      const Queue queue = device.create_queue({.label = "main"});
      const auto pool = device.create_pool();
      const auto x = pool->allocate<unsigned>(64, "x");
      const auto recorded = [&](unsigned value, bool has_more) {
        CommandBuffer cmd = device.create_command_buffer({.label = "step"});
        cmd.begin();
        cmd.fill(x, value);
        cmd.dispatch(device.load_kernel(shaders::step), {.grid = 1, .block = 1}, read_write(x),
                     value);
        if (has_more) cmd.fill(x, 1u);
        cmd.end();
        return cmd;
      };
      const CommandBuffer first = recorded(1, false), second = recorded(2, false),
                          longer = recorded(2, true);
      CapturedGraph graph = device.compile(first, {.pool = pool});
      const auto replay = [&](int times) {
        for (int i = 0; i < times; ++i) graph.launch(queue).wait();
      };
      replay(2);  // 1 and 2 of version 1
      CHECK(graph.update(first).method == UpdateMethod::Unchanged);
      CHECK(graph.update(second).method == UpdateMethod::WholeGraph);
      replay(1);  // 3 of version 2
      CHECK(graph.update(first, {.last = UpdateMethod::Nodes}).method == UpdateMethod::Nodes);
      replay(1);  // 4 of version 1
      CHECK_FALSE(graph.update(longer, {.last = UpdateMethod::WholeGraph}).done());
      CHECK(graph.update(longer).method == UpdateMethod::Reinstantiated);
      replay(2);  // 5 and 6 of version 3
    }
    device.wait_idle();
  }
  const trace::Records records = all_records(folder.file());
  REQUIRE(records.graph_versions.size() == 3);
  for (std::uint32_t i = 0; i < 3; ++i) {
    CHECK(records.graph_versions[i].graph == records.graph_versions[0].graph);
    CHECK(records.graph_versions[i].version == i + 1);
  }
  CHECK(records.graph_versions[0].plan_hash != records.graph_versions[1].plan_hash);
  CHECK(records.graph_versions[2].nodes.size() == 3);
  const std::uint32_t expected[] = {1, 1, 2, 1, 3, 3};
  REQUIRE(records.replays.size() == 6);
  std::set<std::uint64_t> numbers;
  for (const trace::Replay& replay : records.replays) {
    REQUIRE(replay.replay >= 1);
    REQUIRE(replay.replay <= 6);
    CHECK(replay.version == expected[replay.replay - 1]);
    numbers.insert(replay.replay);
  }
  CHECK(numbers.size() == 6);
  for (const trace::SampleBlock& block : records.sample_blocks)
    CHECK(block.version == expected[block.replay - 1]);
  CHECK(records.sample_blocks.size() == 6);
  REQUIRE(records.updates.size() == 3);
  const std::pair<std::uint32_t, std::uint32_t> steps[] = {{1, 2}, {2, 1}, {1, 3}};
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(records.updates[i].from_version == steps[i].first);
    CHECK(records.updates[i].to_version == steps[i].second);
  }
  CHECK(records.updates[0].description == "whole graph, 2 nodes");
  CHECK(records.updates[2].description.find("re-instantiated, 3 nodes; ") == 0);
}
