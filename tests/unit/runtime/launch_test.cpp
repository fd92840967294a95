#include <doctest/doctest.h>

#include <thread>

#include "support/counting_allocator.hpp"
#include "unit/runtime/fake_backend.hpp"

using namespace reprise;
using namespace reprise::test;
using Event = FakeWorld::Event;

TEST_CASE_FIXTURE(
    FakeRun,
    "launch: replay numbers increase by one, and a fence names its queue, serial and replay") {
  auto x = pool->allocate<int>(4, "x");
  CapturedGraph graph = make_graph(device, "g", {}, x);
  CHECK(graph.num_replays() == 0);
  CHECK_FALSE(graph.is_uploaded());
  (void)graph.launch(queue);
  const Fence second = graph.launch(queue);
  CHECK(graph.num_replays() == 2);
  CHECK(graph.is_uploaded());
  CHECK(second.queue() == queue);
  CHECK(second.serial() == 2);
  CHECK(second.replay() == 2);
  CHECK(queue.last_fence().serial() == 2);
  CHECK_FALSE(queue.last_fence().replay());
}

TEST_CASE_FIXTURE(
    FakeRun,
    "fence: done, wait_for and wait follow the queue, and an earlier fence is done with a later "
    "one") {
  CHECK(queue.last_fence().done());
  CapturedGraph graph = make_graph(device, "g", {}, pool->allocate<int>(4, "x"));
  const Fence first = graph.launch(queue), second = graph.launch(queue);
  CHECK_FALSE(first.done());
  CHECK_FALSE(first.wait_for(std::chrono::nanoseconds(-5)));
  fake.world.complete("q", 1);
  CHECK(first.done());
  CHECK_FALSE(second.done());
  CHECK_FALSE(second.wait_for(std::chrono::nanoseconds(1)));
  fake.world.complete("q", 2);
  CHECK(second.wait_for(std::chrono::nanoseconds::max()));
  second.wait();
  first.wait();
  queue.wait_idle();
  Fence().wait();
  CHECK(Fence().done());
  CHECK(Fence().wait_for(std::chrono::nanoseconds(0)));
}

TEST_CASE_FIXTURE(
    FakeRun,
    "launch: it waits exactly once, for the graph's last launch, and only on another queue") {
  Queue q = device.create_queue({.label = "q"}), r = device.create_queue({.label = "r"});
  CapturedGraph graph = make_graph(device, "g", {}, pool->allocate<int>(4, "x"));
  (void)graph.launch(q);
  (void)graph.launch(q);
  CHECK(fake.world.waits().empty());
  (void)graph.launch(r);
  CHECK(fake.world.waits() == std::vector<Event>{{Event::Kind::Wait, "r", 2, "q"}});
  fake.world.complete_all();
  (void)graph.launch(q);  // the launch on r is complete
  CHECK(fake.world.waits().size() == 1);
}

TEST_CASE_FIXTURE(
    FakeRun,
    "launch: it allocates nothing, shared or not, on one queue or alternating between two") {
  Queue q = device.create_queue({.label = "q"}), r = device.create_queue({.label = "r"});
  auto x = pool->allocate<int>(4, "x"), y = pool->allocate<int>(4, "y");
  CapturedGraph alone = make_graph(device, "alone", {}, pool->allocate<int>(4, "z"));
  CapturedGraph writer = make_graph(device, "writer", {}, x);
  CapturedGraph reader = make_graph(device, "reader", x, y);
  const auto launch_all = [&] {
    (void)alone.launch(q);
    (void)alone.launch(r);
    (void)writer.launch(q);
    (void)reader.launch(r);
  };
  launch_all();  // the first waits between these queues may allocate
  const std::uint64_t before = allocations_of_this_thread();
  for (int i = 0; i < 100; ++i) launch_all();
  CHECK(allocations_of_this_thread() == before);
}

TEST_CASE_FIXTURE(FakeRun, "upload: it runs once, and a launch on another queue waits for it") {
  Queue q = device.create_queue({.label = "q"}), r = device.create_queue({.label = "r"});
  CapturedGraph graph = make_graph(device, "g", {}, pool->allocate<int>(4, "x"));
  graph.upload(q);
  CHECK(graph.is_uploaded());
  CHECK(graph.num_replays() == 0);
  const std::size_t events = fake.world.events().size();
  graph.upload(q);
  graph.upload(r);
  CHECK(fake.world.events().size() == events);
  (void)graph.launch(r);
  CHECK(fake.world.waits() == std::vector<Event>{{Event::Kind::Wait, "r", 1, "q"}});
}

TEST_CASE_FIXTURE(FakeRun, "queue: wait_for orders after a pending fence of another queue only") {
  Queue q = device.create_queue({.label = "q"}), r = device.create_queue({.label = "r"});
  CapturedGraph graph = make_graph(device, "g", {}, pool->allocate<int>(4, "x"));
  const Fence fence = graph.launch(q);
  q.wait(fence);
  r.wait(Fence());
  CHECK(fake.world.waits().empty());
  r.wait(fence);
  CHECK(fake.world.waits() == std::vector<Event>{{Event::Kind::Wait, "r", 1, "q"}});
  fake.world.complete_all();
  r.wait(fence);
  CHECK(fake.world.waits().size() == 1);
}

TEST_CASE("launch: replays from four threads get distinct numbers and serials") {
  FakeInstance fake;
  fake.world.set_completion(Completion::AtOnce);
  Device device = fake.open();
  auto pool = device.create_pool();
  auto x = pool->allocate<int>(4, "x"), y = pool->allocate<int>(4, "y");
  CapturedGraph graphs[] = {make_graph(device, "a", x, y), make_graph(device, "b", y, x),
                            make_graph(device, "c", x, {})};
  Queue queues[] = {device.create_queue({.label = "q"}), device.create_queue({.label = "r"})};
  constexpr int kLaunches = 200, kThreads = 4;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kLaunches; ++i) (void)graphs[(t + i) % 3].launch(queues[(t * i) % 2]);
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(graphs[0].num_replays() + graphs[1].num_replays() + graphs[2].num_replays() ==
        kLaunches * kThreads);
  CHECK(queues[0].last_fence().serial() + queues[1].last_fence().serial() == kLaunches * kThreads);
}

TEST_CASE("launch: invalid arguments throw typed errors that name the graph") {
  FakeInstance fake({}, {{"host", DeviceKind::Host}, {"cuda:0", DeviceKind::Cuda}});
  Device device = fake.open(), other = fake.open("cuda:0");
  auto pool = device.create_pool();
  CapturedGraph graph = make_graph(device, "g", {}, pool->allocate<int>(4, "x"));
  const ErrorDetails empty = error_of([&] { (void)graph.launch(Queue()); });
  CHECK(empty.code == ErrorCode::NotInitialized);
  CHECK(empty.label == "g");
  Queue foreign = other.create_queue({.label = "foreign"});
  const ErrorDetails wrong = error_of([&] { (void)graph.launch(foreign); });
  CHECK(wrong.code == ErrorCode::WrongDevice);
  CHECK(wrong.stage == Stage::Launch);
  CHECK(error_of([&] { graph.upload(foreign); }).code == ErrorCode::WrongDevice);
  CHECK(error_of([&] { foreign.wait(graph.launch(device.create_queue())); }).code ==
        ErrorCode::WrongDevice);
  CHECK(error_of([] { (void)CapturedGraph().launch(Queue()); }).code == ErrorCode::NotInitialized);
  CHECK(error_of([] { Queue().wait_idle(); }).code == ErrorCode::NotInitialized);
}

namespace {

struct RecordedFill : FakeRun {
  RecordedFill() {
    commands.begin();
    commands.fill(x, 1);
    commands.end();
  }
  GpuRef<int> x = pool->allocate<int>(4, "x");
  CommandBuffer commands = device.create_command_buffer({.label = "c"});
};

}  // namespace

TEST_CASE_FIXTURE(RecordedFill,
                  "command buffer: Pending while any of a hundred graphs of it replays") {
  std::vector<CapturedGraph> graphs;
  for (int i = 0; i < 100; ++i) graphs.push_back(device.compile(commands));
  for (const std::size_t launched : {0, 31, 32, 99}) {
    (void)graphs[launched].launch(queue);
    CHECK(commands.state() == CommandBufferState::Pending);
    fake.world.complete_all();
    CHECK(commands.state() == CommandBufferState::Executable);
  }
}
