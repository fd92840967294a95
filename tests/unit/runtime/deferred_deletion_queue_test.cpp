#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "runtime/core/deferred_deletion_queue.hpp"
#include "unit/runtime/fake_backend.hpp"

using namespace reprise;
using namespace reprise::test;

namespace {

CapturedGraph graph_with_callback(const Device& device, const BufferView& buffer,
                                  std::function<void()> callback) {
  CommandBuffer commands = device.create_command_buffer({.label = "callback"});
  commands.begin();
  commands.host(std::move(callback), {read(buffer)});
  commands.end();
  return device.compile(commands);
}

// Calls `action` on destruction.
struct OnDestruction {
  std::function<void()> action;
  ~OnDestruction() { action(); }
};

class Deleted final : public detail::DeferredDelete {
 public:
  explicit Deleted(std::function<void()> action) : at_end_{std::move(action)} {}
  [[nodiscard]] Pending pending() const noexcept override { return {}; }

 private:
  OnDestruction at_end_;
};

}  // namespace

TEST_CASE(
    "deferred deletion: collect_completed() waits for an object that another thread destroys, and "
    "destroys what that object drops") {
  detail::DeferredDeletionQueue queue;
  queue.prepare();
  std::promise<void> started, never;
  std::atomic<bool> destroyed = false;
  queue.push(std::make_unique<Deleted>([&] {
    started.set_value();
    never.get_future().wait_for(std::chrono::milliseconds(20));  // a slow free
    queue.push(std::make_unique<Deleted>([&] { destroyed = true; }));
  }));
  started.get_future().wait();
  queue.collect_completed();
  CHECK(destroyed);
  queue.flush();
}

TEST_CASE("deferred deletion: limit_backlog() bounds what waits for a slow thread") {
  detail::DeferredDeletionQueue queue;
  queue.prepare();
  std::promise<void> started, resume;
  queue.push(std::make_unique<Deleted>([&] {
    started.set_value();
    resume.get_future().wait();
  }));
  started.get_future().wait();  // the thread is busy until `resume`
  std::int64_t alive = 0, peak = 0;
  for (int i = 0; i < 5000; ++i) {
    queue.limit_backlog();
    queue.push(std::make_unique<Deleted>([&] { --alive; }));
    peak = std::max(peak, ++alive);
  }
  CHECK(peak == 1024);
  resume.set_value();
  queue.flush();
  CHECK(alive == 0);
}

TEST_CASE_FIXTURE(
    FakeRun,
    "deferred deletion: a graph that is dropped while it runs is kept until its launch completes, "
    "and the executable is destroyed before its memory") {
  {
    auto x = pool->allocate<int>(4, "x");
    auto t = pool->transient<int>(4, "t");
    CommandBuffer commands = device.create_command_buffer({.label = "g"});
    commands.begin();
    commands.fill(t, 1);
    commands.copy(t, x);
    commands.end();
    CapturedGraph graph = device.compile(commands);
    (void)graph.launch(queue);
  }
  CHECK(fake.world.execs() == 1);
  CHECK(fake.world.memory_blocks() == 2);  // x and the slab
  fake.world.complete_all();
  device.wait_idle();
  CHECK(fake.world.freed() == std::vector<std::string>{"exec", "memory", "memory"});
  CHECK(pool->buffer_count() == 0);
}

TEST_CASE_FIXTURE(
    FakeRun,
    "deferred deletion: completed objects are destroyed first, whatever the order of dropping") {
  Queue slow = device.create_queue({.label = "slow"}),
        quick = device.create_queue({.label = "quick"});
  CapturedGraph first = make_graph(device, "first", {}, pool->allocate<int>(4, "x"));
  CapturedGraph second = make_graph(device, "second", {}, pool->allocate<int>(4, "y"));
  (void)first.launch(slow);
  const Fence fence = second.launch(quick);
  first = {};
  second = {};
  CHECK(fake.world.execs() == 2);  // both run
  fake.world.complete("quick", fence.serial());
  fake.world.wait_until_execs(1);  // the first still runs
  CHECK_FALSE(slow.last_fence().done());
  fake.world.complete_all();
  device.wait_idle();
  CHECK(fake.world.execs() == 0);
}

TEST_CASE(
    "deferred deletion: destroying a callback that owns the last reference to its device does "
    "not deadlock") {
  FakeInstance fake;
  {
    Device device = fake.open();
    auto pool = device.create_pool();
    auto x = pool->allocate<int>(4, "x");
    Queue queue = device.create_queue({.label = "q"});
    auto owner = std::make_shared<std::pair<Device, Queue>>(device, queue);
    CapturedGraph graph = graph_with_callback(device, x, [owner] {});
    (void)graph.launch(queue);
  }
  CHECK(fake.world.backends() == 1);
  fake.world.complete_all();
  fake.world.wait_until_empty();
  CHECK(fake.world.freed().back() == "backend");
}

TEST_CASE_FIXTURE(FakeRun,
                  "deferred deletion: a destructor of the application may use the engine") {
  auto x = pool->allocate<int>(4, "x");
  std::size_t counted = 0;
  {
    auto at_end = std::make_shared<OnDestruction>();
    at_end->action = [&] {
      auto y = pool->allocate<int>(4, "y");
      counted = pool->buffer_count();
      device.wait_idle();
    };
    CapturedGraph graph = graph_with_callback(device, x, [at_end] {});
    (void)graph.launch(queue);
  }
  CHECK(counted == 0);
  fake.world.complete_all();
  device.wait_idle();
  CHECK(counted == 2);
}
