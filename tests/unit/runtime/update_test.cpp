#include <doctest/doctest.h>

#include "unit/runtime/fake_backend.hpp"

using namespace reprise;
using namespace reprise::test;

// The fake takes no change in place, so that every update becomes a new executable, if it may.

TEST_CASE("update: the executable that was replaced goes when its launches are over, not before") {
  FakeInstance fake;
  const Device device = fake.open();
  const Queue queue = device.create_queue({.label = "q"});
  const auto pool = device.create_pool();
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

TEST_CASE(
    "update: a launch of the new executable on another queue waits for the last of the old one") {
  FakeInstance fake;
  const Device device = fake.open();
  const Queue first = device.create_queue({.label = "first"}),
              second = device.create_queue({.label = "second"});
  const auto pool = device.create_pool();
  const auto a = pool->allocate<int>(4, "a"), b = pool->allocate<int>(4, "b"),
             c = pool->allocate<int>(4, "c");
  CapturedGraph graph = make_graph(device, "g", a, b);
  static_cast<void>(graph.launch(first));
  REQUIRE(graph.rebind(b, c).done());
  fake.world.forget_events();
  static_cast<void>(graph.launch(second));
  const auto waits = fake.world.waits();
  REQUIRE(waits.size() == 1);
  CHECK(waits[0].queue == "second");
  CHECK(waits[0].other == "first");
  fake.world.complete_all();
}

TEST_CASE("update: where no rung that is allowed does, nothing changes and the report says so") {
  FakeInstance fake;
  const Device device = fake.open();
  const auto pool = device.create_pool();
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

TEST_CASE(
    "update: a new executable that fails leaves the graph with the old one, whichever call it is "
    "that fails") {
  for (std::uint64_t n = 0; n < 20; ++n) {
    FakeInstance fake;
    fake.world.set_completion(Completion::AtOnce);
    const Device device = fake.open();
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
  FAIL("the update never came through");
}

TEST_CASE("update: a graph of a device that was lost is stale to every change") {
  FakeInstance fake;
  Device device = fake.open();
  const auto pool = device.create_pool();
  const auto a = pool->allocate<int>(4, "a"), b = pool->allocate<int>(4, "b");
  CapturedGraph graph = make_graph(device, "g", a, b);
  device.simulate_loss();
  CHECK(error_of([&] { static_cast<void>(graph.rebind(b, b)); }).code == ErrorCode::StaleHandle);
}
