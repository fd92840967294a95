#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include <reprise/reprise.hpp>

#include "support/environment_variable.hpp"
#include "unit/profile/traced_run.hpp"

using namespace reprise;
using namespace reprise::test;

TEST_CASE("traced memory: the states of a pool contain its mapped, trimmed and remapped slabs") {
  const NoTraceEnvironment none;
  const TraceFolder folder;
  constexpr unsigned kCount = 1u << 18;
  constexpr std::uint64_t kBytes = kCount * sizeof(unsigned), kBudget = 8 * kBytes;
  {
    const Instance instance({.application = "memory test", .trace = {.target = folder.file()}});
    const Device device = instance.open_device(DeviceSelector::named("host"));
    const Queue queue = device.create_queue({.label = "main"});
    {
      const auto pool = device.create_pool({.label = "step", .budget = kBudget});
      const auto out = pool->allocate<unsigned>(kCount, "out");
      const auto t = pool->transient<unsigned>(kCount, "t");
      CommandBuffer cmd = device.create_command_buffer({.label = "step"});
      cmd.begin();
      cmd.fill(t, 1u);
      cmd.copy(t, out);
      cmd.end();
      CapturedGraph graph = device.compile(cmd, {.pool = pool});
      graph.launch(queue).wait();
      CHECK(pool->trim().slabs == 1);
      graph.launch(queue).wait();
    }
    device.wait_idle();
  }
  const trace::Records all = all_records(folder.file());
  REQUIRE_FALSE(all.pool_states.empty());
  std::vector<std::uint64_t> mapped;
  for (const trace::PoolState& state : all.pool_states) {
    CHECK(state.budget == kBudget);
    if (mapped.empty() || mapped.back() != state.mapped) mapped.push_back(state.mapped);
  }
  CHECK(mapped.front() == 0);
  CHECK(mapped.back() == 0);
  // The buffer and the slab, before the trim and after the slab is mapped again.
  CHECK(std::count(mapped.begin(), mapped.end(), 2 * kBytes) == 2);
  const trace::PoolState& last = all.pool_states.back();
  CHECK(last.peak == 2 * kBytes);
  CHECK(last.reserved == 0);
  CHECK(last.slabs == 0);
  CHECK(last.trims == 1);
  CHECK(last.remaps == 1);
  const auto message_count = [&](std::string_view id) {
    return std::count_if(all.messages.begin(), all.messages.end(),
                         [&](const trace::Message& m) { return m.id == id; });
  };
  REQUIRE_FALSE(all.device_totals.empty());
  CHECK(std::any_of(
      all.device_totals.begin(), all.device_totals.end(),
      [](const trace::DeviceTotals& d) { return d.mapped == 2 * kBytes && d.buffers == kBytes; }));
  const trace::DeviceTotals& totals = all.device_totals.back();
  CHECK(totals.mapped == 0);
  CHECK(totals.reserved == 0);
  CHECK(totals.peak == 2 * kBytes);
  CHECK(totals.trims == 1);
  CHECK(totals.remaps == 1);
  CHECK(totals.budget == 0);
  CHECK(message_count("slab-trimmed") == 1);
  CHECK(message_count("slab-remapped") == 1);
}

TEST_CASE(
    "traced memory: graphs that share a slab are listed, and the slab counts once for the pool and "
    "the device") {
  const NoTraceEnvironment none;
  const TraceFolder folder;
  constexpr unsigned kCount = 1u << 18;
  constexpr std::uint64_t kBytes = kCount * sizeof(unsigned);
  {
    const Instance instance({.application = "memory test", .trace = {.target = folder.file()}});
    const Device device = instance.open_device(DeviceSelector::named("host"));
    const Queue queue = device.create_queue({.label = "main"});
    {
      const auto pool = device.create_pool({.label = "step", .sharing = SlabSharing::OneAtATime});
      const auto out = pool->allocate<unsigned>(16, "out");
      const auto graph_of = [&](unsigned count) {
        const auto t = pool->transient<unsigned>(count, "t");
        CommandBuffer cmd = device.create_command_buffer({.label = "step"});
        cmd.begin();
        cmd.fill(t, 1u);
        cmd.copy(t.slice(0, 16), out);
        cmd.end();
        return device.compile(cmd, {.pool = pool});
      };
      CapturedGraph small = graph_of(kCount);
      {
        CapturedGraph large = graph_of(2 * kCount);
        small.launch(queue).wait();
        large.launch(queue).wait();
        CHECK(pool->trim().slabs == 1);
        small.launch(queue).wait();
      }
      device.wait_idle();
    }
    device.wait_idle();
  }
  const trace::Records all = all_records(folder.file());
  const auto& states = all.pool_states;
  const auto both = std::find_if(states.begin(), states.end(),
                                 [](const trace::PoolState& s) { return s.sharers.size() == 2; });
  REQUIRE(both != states.end());
  CHECK(both->sharers == both->holders);
  CHECK(both->shared_slabs == 1);
  CHECK(both->slabs == 1);
  CHECK(both->mapped == 2 * kBytes + 64);
  CHECK(states.back().sharers.empty());
  CHECK(states.back().shared_slabs == 0);
  CHECK(states.back().peak == 2 * kBytes + 64);
  CHECK(states.back().trims == 1);
  CHECK(states.back().remaps == 1);
  CHECK(all.device_totals.back().peak == 2 * kBytes + 64);
  CHECK(std::any_of(all.device_totals.begin(), all.device_totals.end(),
                    [](const trace::DeviceTotals& d) { return d.shared_slabs == 1; }));
  const auto message_count = [&](std::string_view id) {
    return std::count_if(all.messages.begin(), all.messages.end(),
                         [&](const trace::Message& m) { return m.id == id; });
  };
  CHECK(message_count("slab-trimmed") == 1);
  CHECK(message_count("slab-remapped") == 1);
}
