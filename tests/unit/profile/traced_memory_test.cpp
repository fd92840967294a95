#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include <reprise/reprise.hpp>

#include "support/environment_variable.hpp"
#include "unit/profile/traced_run.hpp"

using namespace reprise;
using namespace reprise::test;

TEST_CASE("traced memory: what a pool takes with the slabs of its graphs, gives back and takes again is in its states") {
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
  // The buffer; the slab with it, before it is trimmed and after.
  CHECK(std::count(mapped.begin(), mapped.end(), 2 * kBytes) == 2);
  const trace::PoolState& last = all.pool_states.back();
  CHECK(last.peak == 2 * kBytes);
  CHECK(last.reserved == 0);
  CHECK(last.slabs == 0);
  CHECK(last.trims == 1);
  CHECK(last.remaps == 1);
  const auto said = [&](std::string_view id) {
    return std::count_if(all.messages.begin(), all.messages.end(), [&](const trace::Message& m) { return m.id == id; });
  };
  CHECK(said("slab-trimmed") == 1);
  CHECK(said("slab-remapped") == 1);
}
