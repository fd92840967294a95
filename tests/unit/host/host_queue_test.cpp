// Order and waits of host queues, and their state after a device loss.
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <latch>
#include <string>
#include <thread>
#include <vector>

#include <block_kernels.shaders.hpp>

#include "support/counting_allocator.hpp"
#include "support/no_threads.hpp"
#include "unit/host/hand_made_graph.hpp"
#include "unit/host/host_fixture.hpp"

using namespace reprise;
using namespace reprise::test;
using namespace std::chrono_literals;

namespace {

// A graph whose replay signals its start and then waits for a release.
struct BlockingGraph {
  explicit BlockingGraph(HostFixture& host) : graph(*host.backend) {
    graph.host([this] {
      started.count_down();
      go.wait();
    });
    exec = graph.instantiate();
  }
  std::latch started{1}, go{1};
  HandMadeGraph graph;
  std::unique_ptr<detail::BackendExec> exec;
};

struct CountingGraph {
  explicit CountingGraph(HostFixture& host) : graph(*host.backend) {
    graph.dispatch(shaders::step, {1, 1}, graph.buffer(x), 1u);
    exec = graph.instantiate();
  }
  std::vector<unsigned> x{0};
  HandMadeGraph graph;
  std::unique_ptr<detail::BackendExec> exec;
};

}  // namespace

TEST_CASE("host queue: serials count submissions, and one is complete only with all earlier ones") {
  HostFixture host;
  CountingGraph counting(host);
  CHECK(host.queue->last_serial() == 0);
  CHECK(host.queue->done(0));
  for (std::uint64_t serial = 1; serial <= 200; ++serial)
    CHECK(counting.exec->launch(*host.queue) == serial);
  CHECK(host.queue->mark() == 201);
  CHECK(host.queue->last_serial() == 201);
  CHECK(host.queue->wait(201, std::nullopt));
  CHECK(host.queue->done(200));
  unsigned expected = 0;
  for (int i = 0; i < 200; ++i) expected = expected * 3 + 1;
  CHECK(counting.x[0] == expected);
}

TEST_CASE("host queue: if no thread can start, a launch throws and leaves the queue as it was") {
  HostFixture host;
  CountingGraph counting(host);
  {
    const NoThreads none;
    REQUIRE(none.works());
    CHECK(code_of([&] { static_cast<void>(counting.exec->launch(*host.queue)); }) ==
          ErrorCode::OutOfMemory);
  }
  CHECK(host.queue->last_serial() == 0);
  CHECK(counting.exec->launch(*host.queue) == 1);
  CHECK(host.queue->wait(1, std::nullopt));
  CHECK(counting.x[0] == 1);
}

TEST_CASE("host queue: a wait with a time limit returns whether the launch has completed") {
  HostFixture host;
  BlockingGraph blocking(host);
  const std::uint64_t serial = blocking.exec->launch(*host.queue);
  blocking.started.wait();
  CHECK_FALSE(host.queue->wait(serial, 0ns));
  CHECK_FALSE(host.queue->wait(serial, 1ms));
  CHECK_FALSE(host.queue->done(serial));
  blocking.go.count_down();
  CHECK(host.queue->wait(serial, std::chrono::hours(1000000)));
  CHECK(host.queue->wait(serial, 0ns));
  CHECK(host.queue->wait(serial, -5ns));
  CHECK(host.queue->done(serial));
}

TEST_CASE("host queue: work runs without a waiting thread") {
  HostFixture host;
  CountingGraph counting(host);
  const std::uint64_t serial = counting.exec->launch(*host.queue);
  while (!host.queue->done(serial)) std::this_thread::yield();
  CHECK(counting.x[0] == 1);
}

TEST_CASE("host queue: callbacks never run on the waiting thread") {
  HostFixture host;
  std::thread::id ran_on;
  HandMadeGraph graph(*host.backend);
  graph.host([&] { ran_on = std::this_thread::get_id(); });
  const auto exec = graph.instantiate();
  host.run(*exec);
  CHECK(ran_on != std::thread::id());
  CHECK(ran_on != std::this_thread::get_id());
}

TEST_CASE("host queue: a queue waits for a serial of another one") {
  HostFixture host;
  const auto other = host.backend->create_queue({.label = "other"});
  BlockingGraph blocking(host);
  std::atomic<int> ran{0};
  int seen = -1;
  HandMadeGraph first(*host.backend), second(*host.backend);
  first.host([&] { ran.store(1); });
  second.host([&] { seen = ran.load(); });
  const auto first_exec = first.instantiate(), second_exec = second.instantiate();

  static_cast<void>(blocking.exec->launch(*host.queue));
  const std::uint64_t awaited = first_exec->launch(*host.queue);
  other->wait_for(*host.queue, awaited);
  const std::uint64_t serial = second_exec->launch(*other);
  blocking.started.wait();
  CHECK_FALSE(other->done(serial));
  blocking.go.count_down();
  CHECK(other->wait(serial, std::nullopt));
  CHECK(seen == 1);
  CHECK(host.queue->done(awaited));
}

TEST_CASE("host queue: queues that alternately wait for each other all complete") {
  HostFixture host;
  const auto other = host.backend->create_queue({.label = "other"});
  CountingGraph counting(host);  // each replay depends on the previous one, on whatever queue
  detail::BackendQueue* queues[] = {host.queue.get(), other.get()};
  unsigned expected = 0;
  for (int i = 0; i < 50; ++i) {
    const std::uint64_t serial = counting.exec->launch(*queues[i % 2]);
    queues[(i + 1) % 2]->wait_for(*queues[i % 2], serial);
    expected = expected * 3 + 1;
  }
  CHECK(other->wait(other->last_serial(), std::nullopt));
  CHECK(host.queue->wait(host.queue->last_serial(), std::nullopt));
  CHECK(counting.x[0] == expected);
}

TEST_CASE("host queue: many threads launch their own graphs on one queue") {
  HostFixture host;
  constexpr int kThreads = 4, kLaunches = 50;
  std::vector<std::unique_ptr<CountingGraph>> graphs;
  for (int i = 0; i < kThreads; ++i) graphs.push_back(std::make_unique<CountingGraph>(host));
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      for (int launch = 0; launch < kLaunches; ++launch) {
        const std::uint64_t serial = graphs[static_cast<std::size_t>(i)]->exec->launch(*host.queue);
        if (launch % 3 == i % 3) static_cast<void>(host.queue->wait(serial, std::nullopt));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(host.queue->last_serial() == kThreads * kLaunches);
  CHECK(host.queue->wait(host.queue->last_serial(), std::nullopt));
  unsigned expected = 0;
  for (int i = 0; i < kLaunches; ++i) expected = expected * 3 + 1;
  for (const auto& graph : graphs) CHECK(graph->x[0] == expected);
}

TEST_CASE("host queue: a launch does not allocate once the queue has run") {
  HostFixture host;
  CountingGraph counting(host);
  for (int i = 0; i < 3; ++i) host.run(*counting.exec);
  const std::uint64_t before = allocations_of_this_thread();
  std::uint64_t serial = 0;
  for (int i = 0; i < 20; ++i) serial = counting.exec->launch(*host.queue);
  CHECK(allocations_of_this_thread() == before);
  CHECK(host.queue->wait(serial, std::nullopt));
}

TEST_CASE(
    "host device: a loss ends the running replay at its next node and drops all queued work") {
  HostFixture host;
  std::latch started{1}, go{1};
  std::atomic<int> after{0};
  HandMadeGraph graph(*host.backend);
  graph.host([&] {
    started.count_down();
    go.wait();
  });
  graph.host([&] { after.fetch_add(1); });
  auto exec = graph.instantiate();
  CountingGraph counting(host);
  host.run(*counting.exec);
  const std::uint64_t running = exec->launch(*host.queue),
                      queued = counting.exec->launch(*host.queue);
  started.wait();
  host.backend->simulate_loss();

  CHECK(host.queue->done(running - 1));
  CHECK(code_of([&] { static_cast<void>(host.queue->done(running)); }) == ErrorCode::DeviceLost);
  CHECK(code_of([&] { static_cast<void>(host.queue->wait(queued, std::nullopt)); }) ==
        ErrorCode::DeviceLost);
  CHECK(code_of([&] { static_cast<void>(exec->launch(*host.queue)); }) == ErrorCode::DeviceLost);
  CHECK(code_of([&] { exec->upload(*host.queue); }) == ErrorCode::DeviceLost);
  CHECK(code_of([&] { static_cast<void>(host.queue->mark()); }) == ErrorCode::DeviceLost);
  CHECK(code_of([&] { static_cast<void>(host.backend->allocate(BufferKind::Device, 16)); }) ==
        ErrorCode::DeviceLost);
  CHECK(code_of([&] { static_cast<void>(host.backend->create_queue({.label = "new"})); }) ==
        ErrorCode::DeviceLost);
  go.count_down();
  exec.reset();  // waits for the running callback
  CHECK(after.load() == 0);
  CHECK(counting.x[0] == 1);
  try {
    static_cast<void>(host.queue->mark());
  } catch (const Error& error) {
    CHECK(error.details().label == "main");
  }
}

TEST_CASE("host device: a loss wakes waiting threads") {
  HostFixture host;
  BlockingGraph blocking(host);
  const std::uint64_t serial = blocking.exec->launch(*host.queue);
  blocking.started.wait();
  std::atomic<bool> lost{false};
  std::thread waiter([&] {
    lost = code_of([&] { static_cast<void>(host.queue->wait(serial, std::nullopt)); }) ==
           ErrorCode::DeviceLost;
  });
  host.backend->simulate_loss();
  waiter.join();
  CHECK(lost.load());
  blocking.go.count_down();
}

TEST_CASE("host device: after a rebuild new queues and graphs run, old ones stay lost") {
  HostFixture host;
  CountingGraph before(host);
  host.run(*before.exec);
  host.backend->simulate_loss();
  host.backend->rebuild();
  CHECK(host.status->generation.load() == 2);
  CHECK_FALSE(host.status->lost.load());
  const auto queue = host.backend->create_queue({.label = "second life"});
  CHECK(code_of([&] { static_cast<void>(before.exec->launch(*queue)); }) == ErrorCode::DeviceLost);
  CHECK(code_of([&] { static_cast<void>(host.queue->mark()); }) == ErrorCode::DeviceLost);
  CountingGraph after(host);
  CHECK(code_of([&] { static_cast<void>(after.exec->launch(*host.queue)); }) ==
        ErrorCode::DeviceLost);
  CHECK(queue->wait(after.exec->launch(*queue), std::nullopt));
  CHECK(after.x[0] == 1);
  CHECK(before.x[0] == 1);
}
