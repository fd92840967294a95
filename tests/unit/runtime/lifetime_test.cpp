#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <vector>

#include "unit/runtime/fake_backend.hpp"

using namespace reprise;
using namespace reprise::test;

namespace {

// One object of each kind, during a replay.
struct ReplayObjects {
  explicit ReplayObjects(FakeInstance& fake) : instance(fake.instance), device(fake.open()) {
    pool = device->create_pool();
    buffer = pool->allocate<int>(4, "x");
    queue = device->create_queue({.label = "q"});
    kernel = device->load_kernel(fake_kernel());
    commands.emplace(device->create_command_buffer({.label = "c"}));
    commands->begin();
    commands->dispatch(*kernel, {.grid = 1, .block = 1}, write(*buffer), 4);
    auto t = pool->transient<int>(4, "t");
    commands->fill(t, 1);
    commands->copy(t, *buffer);
    commands->end();
    graph = device->compile(*commands, {.pool = pool});
    fence = graph->launch(*queue);
  }

  static constexpr std::size_t kCount = 9;
  void drop(std::size_t which) {
    switch (which) {
      case 0: instance.reset(); break;
      case 1: device.reset(); break;
      case 2: queue.reset(); break;
      case 3: pool.reset(); break;
      case 4: buffer.reset(); break;
      case 5: kernel.reset(); break;
      case 6: commands.reset(); break;
      case 7: graph.reset(); break;
      case 8: fence.reset(); break;
      default: break;
    }
  }

  std::optional<Instance> instance;
  std::optional<Device> device;
  std::optional<Queue> queue;
  std::shared_ptr<CapturePool> pool;
  std::optional<GpuRef<int>> buffer;
  std::optional<Kernel> kernel;
  std::optional<CommandBuffer> commands;
  std::optional<CapturedGraph> graph;
  std::optional<Fence> fence;
};

}  // namespace

TEST_CASE("lifetimes: six objects can be dropped in every order during a replay") {
  FakeInstance fake;
  // Every order of the objects other than instance, pool and kernel, which another test drops first
  // and last.
  std::vector<std::size_t> order{1, 2, 4, 6, 7, 8};
  std::size_t tried = 0;
  do {
    ReplayObjects all(fake);
    for (const std::size_t which : order) {
      all.drop(which);
      CHECK(fake.world.execs() == 1);  // the replay is running
    }
    for (const std::size_t which : {0, 3, 5}) all.drop(which);
    CHECK(fake.world.execs() == 1);
    fake.world.complete_all();
    fake.world.wait_until_empty();
    ++tried;
  } while (std::next_permutation(order.begin(), order.end()));
  CHECK(tried == 720);
}

TEST_CASE(
    "lifetimes: each of nine objects can be dropped first or last, before or after completion") {
  FakeInstance fake;
  for (std::size_t first = 0; first < ReplayObjects::kCount; ++first) {
    for (std::size_t last = 0; last < ReplayObjects::kCount; ++last) {
      if (first == last) continue;
      ReplayObjects all(fake);
      std::vector<std::size_t> order{first};
      for (std::size_t i = 0; i < ReplayObjects::kCount; ++i) {
        if (i != first && i != last) order.push_back(i);
      }
      order.push_back(last);
      for (std::size_t i = 0; i < order.size(); ++i) {
        if (i == (first + last) % order.size()) fake.world.complete_all();
        all.drop(order[i]);
      }
      fake.world.complete_all();
      fake.world.wait_until_empty();
    }
  }
  CHECK(fake.world.violations() == std::vector<std::string>());
}

TEST_CASE("lifetimes: a fence outlives everything else and can still be waited for") {
  FakeInstance fake;
  ReplayObjects all(fake);
  const Fence fence = *all.fence;
  for (std::size_t i = 0; i < ReplayObjects::kCount; ++i) all.drop(i);
  CHECK_FALSE(fence.done());
  fake.world.complete_all();
  fence.wait();
  CHECK(fence.replay() == 1);
}
