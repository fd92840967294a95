#include <doctest/doctest.h>

#include <atomic>
#include <thread>

#include "base/handle_access.hpp"
#include "runtime/memory/pool_buffer.hpp"
#include "unit/runtime/fake_backend.hpp"

using namespace reprise;
using namespace reprise::test;

// The fake device supports no in-place updates: every update needs a new executable.

TEST_CASE_FIXTURE(
    FakeRun,
    "update: a replaced executable is destroyed when its launches are complete, not earlier") {
  const auto a = pool->allocate<int>(4, "a"), b = pool->allocate<int>(4, "b"),
             c = pool->allocate<int>(4, "c");
  CapturedGraph graph = make_graph(device, "g", a, b);
  const Fence before = graph.launch(queue);
  const UpdateReport report = graph.rebind(b, c);
  CHECK(report.method == UpdateMethod::Reinstantiated);
  CHECK(report.outcome == GraphExecUpdateOutcome::NotSupported);
  CHECK(report.done());
  CHECK(fake.world.execs() == 2);
  const Fence after = graph.launch(queue);
  CHECK(after.replay() == 2);
  fake.world.complete("q", before.serial());
  fake.world.wait_until_execs(1);
  fake.world.complete_all();
  after.wait();
}

TEST_CASE_FIXTURE(
    FakeRun,
    "update: a launch of the new executable on another queue waits for the last of the old one") {
  const Queue first = device.create_queue({.label = "first"}),
              second = device.create_queue({.label = "second"});
  const auto a = pool->allocate<int>(4, "a"), b = pool->allocate<int>(4, "b"),
             c = pool->allocate<int>(4, "c");
  CapturedGraph graph = make_graph(device, "g", a, b);
  static_cast<void>(graph.launch(first));
  REQUIRE(graph.rebind(b, c).done());
  fake.world.clear_events();
  static_cast<void>(graph.launch(second));
  const auto waits = fake.world.waits();
  REQUIRE(waits.size() == 1);
  CHECK(waits[0].queue == "second");
  CHECK(waits[0].other == "first");
  fake.world.complete_all();
}

TEST_CASE_FIXTURE(
    FakeRun, "update: a graph that stops reading a buffer that it also writes still writes it") {
  const Queue first = device.create_queue({.label = "first"}),
              second = device.create_queue({.label = "second"});
  const auto a = pool->allocate<int>(4, "a"), b = pool->allocate<int>(4, "b"),
             c = pool->allocate<int>(4, "c"), d = pool->allocate<int>(4, "d"),
             whole = pool->allocate<int>(8, "whole");
  CapturedGraph graph = make_graph(device, "g", a, b);
  REQUIRE(graph.rebind({{b, whole.slice(0, 4)}, {a, whole.slice(4, 4)}}).done());
  SUBCASE("the reads end") {
    REQUIRE(graph.rebind(a, c).done());
    static_cast<void>(graph.launch(first));
    fake.world.clear_events();
    CapturedGraph reader = make_graph(device, "reader", whole.slice(0, 4), d);
    static_cast<void>(reader.launch(second));
    CHECK(fake.world.waits().size() == 1);
  }
  SUBCASE("the writes end") {
    REQUIRE(graph.rebind(b, c).done());
    static_cast<void>(graph.launch(first));
    fake.world.clear_events();
    CapturedGraph reader = make_graph(device, "reader", whole.slice(0, 4), d);
    static_cast<void>(reader.launch(second));
    CHECK(fake.world.waits().empty());
  }
  fake.world.complete_all();
}

TEST_CASE_FIXTURE(FakeRun, "update: a graph that uses a buffer twice leaves it with its last use") {
  const auto a = pool->allocate<int>(4, "a"), b = pool->allocate<int>(4, "b"),
             c = pool->allocate<int>(4, "c"), whole = pool->allocate<int>(8, "whole");
  const auto filling = [&](std::initializer_list<GpuRef<int>> buffers) {
    CommandBuffer commands = device.create_command_buffer();
    commands.begin();
    for (const GpuRef<int>& buffer : buffers) commands.fill(buffer, 1);
    commands.end();
    return commands;
  };
  const auto uses = [&] {
    return detail::PoolBuffer::of(detail::core_of(BufferView(whole)))->uses().size();
  };
  {
    CapturedGraph graph = device.compile(filling({a, b, c}));
    REQUIRE(graph.rebind({{b, whole.slice(0, 4)}, {c, whole.slice(4, 4)}}).done());
    CHECK(uses() == 2);
    REQUIRE(graph.update(filling({whole})).done());
    CHECK(uses() == 1);
  }
  CHECK(uses() == 0);
}

TEST_CASE_FIXTURE(FakeRun,
                  "update: if no allowed method works, nothing changes and the report says so") {
  const auto a = pool->allocate<int>(4, "a"), b = pool->allocate<int>(4, "b"),
             c = pool->allocate<int>(4, "c");
  CapturedGraph graph = make_graph(device, "g", a, b);
  const UpdateReport report = graph.rebind(b, c, {.last = UpdateMethod::WholeGraph});
  CHECK(report.method == UpdateMethod::Unchanged);
  CHECK_FALSE(report.done());
  CHECK_FALSE(report.reason.empty());
  CHECK(report.nodes == 0);
  CHECK(fake.world.execs() == 1);
}

TEST_CASE("update: a failure of any call while a new executable is made keeps the old one") {
  for (std::uint64_t n = 0; n < 20; ++n) {
    FakeInstance fake;
    fake.world.set_completion(Completion::AtOnce);
    Device device = fake.open();
    const Queue queue = device.create_queue({.label = "q"});
    const auto pool = device.create_pool();
    const auto a = pool->allocate<int>(4, "a"), b = pool->allocate<int>(4, "b"),
               c = pool->allocate<int>(4, "c");
    CapturedGraph graph = make_graph(device, "g", a, b);
    fake.world.fail_call(n);
    bool failed = false;
    try {
      static_cast<void>(graph.rebind(b, c));
    } catch (const Error&) {
      failed = true;
    }
    fake.world.fail_nothing();
    CHECK(pool->live_graphs() == 1);
    graph.launch(queue).wait();
    CHECK(graph.num_replays() == 1);
    if (!failed) return;
  }
  FAIL("the update did not succeed within the call limit");
}

TEST_CASE_FIXTURE(FakeRun, "update: a graph of a lost device is stale for every change") {
  const auto a = pool->allocate<int>(4, "a"), b = pool->allocate<int>(4, "b");
  CapturedGraph graph = make_graph(device, "g", a, b);
  device.simulate_loss();
  CHECK(error_of([&] { static_cast<void>(graph.rebind(b, b)); }).code == ErrorCode::StaleHandle);
}

// The report is replaced atomically: a reader never sees parts of two recordings.
TEST_CASE("update: report() and node_count() can be read while another thread updates") {
  FakeInstance fake;
  fake.world.set_completion(Completion::AtOnce);
  Device device = fake.open();
  const auto pool = device.create_pool();
  const auto a = pool->allocate<int>(4, "a"), b = pool->allocate<int>(4, "b");
  const auto record = [&](int fills) {
    CommandBuffer commands = device.create_command_buffer({.label = "g"});
    commands.begin();
    for (int i = 0; i < fills; ++i) commands.fill(i % 2 == 0 ? a : b, 1);
    commands.end();
    return commands;
  };
  const CommandBuffer few = record(3), many = record(40);
  CapturedGraph graph = device.compile(few, {.lowering = Lowering::Faithful});
  std::atomic<bool> done{false};
  std::uint32_t torn = 0, reads = 0;
  std::thread reader([&] {
    while (!done.load() || reads < 100) {
      const CompileReport report = graph.report();
      if (report.commands != report.nodes || (report.nodes != 3 && report.nodes != 40)) ++torn;
      if (const std::uint32_t nodes = graph.node_count(); nodes != 3 && nodes != 40) ++torn;
      ++reads;
    }
  });
  for (int i = 0; i < 50; ++i) CHECK(graph.update(i % 2 == 0 ? many : few).done());
  done = true;
  reader.join();
  CHECK(torn == 0);
  CHECK(graph.node_count() == 3);
}
