#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <string>

#include "conformance/device_fixture.hpp"
#include "words.shaders.hpp"

namespace reprise::test::host_test {

TEST_CASE_FIXTURE(DeviceFixture, "host: a callback runs once per replay, in recorded order") {
  const auto x = buffer(std::vector<unsigned>(64, 0), "x");
  const auto h = pool->host<unsigned>(64, "h");
  const Kernel add = kernel(shaders::conf_add);
  int calls = 0;
  CommandBuffer cmd = recording();
  cmd.copy(x, h);
  cmd.host(
      [&calls, h] {
        ++calls;
        for (unsigned& value : h) value = value * 2 + 1;
      },
      {read_write(h)});
  cmd.dispatch(add, {.grid = 1, .block = 64}, read(h), write(x), 10u, 64u);
  CapturedGraph graph = compile(cmd);
  unsigned expected = 0;
  for (int replay = 1; replay <= 5; ++replay) {
    graph.launch(queue).wait();
    expected = expected * 2 + 11;
    CHECK(calls == replay);
    CHECK(values(x) == std::vector<unsigned>(64, expected));
  }
}

TEST_CASE_FIXTURE(
    DeviceFixture,
    "host: the replay's fence rethrows a callback's exception, and the replay continues") {
  const auto x = buffer(std::vector<unsigned>(4, 0), "x");
  int calls = 0;
  CommandBuffer cmd = recording({.ordering = Ordering::Linear});
  cmd.host([&calls] {
    if (++calls == 2) throw std::runtime_error("the second time");
  });
  cmd.dispatch(kernel(shaders::conf_add), {.grid = 1, .block = 4}, read(x), write(x), 1u, 4u);
  CapturedGraph graph = compile(cmd);
  Fence first = graph.launch(queue);
  first.wait();
  Fence second = graph.launch(queue);
  const auto rethrown = [](const Fence& fence) {
    try {
      fence.wait();
    } catch (const std::runtime_error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(rethrown(second) == "the second time");
  // The exception is rethrown on every wait.
  CHECK(rethrown(second) == "the second time");
  graph.launch(queue).wait();
  first.wait();
  CHECK(values(x) == std::vector<unsigned>(4, 3));
}

TEST_CASE_FIXTURE(DeviceFixture,
                  "host: a callback's captures live until its last replay completes") {
  auto token = std::make_shared<std::atomic<int>>(0);
  const std::weak_ptr<std::atomic<int>> alive = token;
  {
    CommandBuffer cmd = recording();
    cmd.host([token = std::move(token)] { ++*token; });
    CapturedGraph graph = compile(cmd);
    for (int replay = 0; replay < 3; ++replay) static_cast<void>(graph.launch(queue));
    queue.wait_idle();
    REQUIRE(alive.lock() != nullptr);
    CHECK(*alive.lock() == 3);
  }
  device.wait_idle();
  CHECK(alive.expired());
}

TEST_CASE_FIXTURE(DeviceFixture,
                  "host: wait_idle() warns once of exceptions that no fence has rethrown") {
  CommandBuffer cmd = recording({.label = "thrower"});
  cmd.host([] { throw std::runtime_error("lost"); });
  CapturedGraph graph = compile(cmd);
  const auto warnings = [&] {
    return std::count(messages->begin(), messages->end(), "callback-exception-lost");
  };
  for (int replay = 0; replay < 3; ++replay) static_cast<void>(graph.launch(queue));
  queue.wait_idle();
  CHECK(warnings() == 1);
  device.wait_idle();
  CHECK(warnings() == 1);
  const Fence fence = graph.launch(queue);
  CHECK_THROWS_WITH_AS(fence.wait(), "lost", std::runtime_error);
  queue.wait_idle();
  CHECK(warnings() == 1);
}

TEST_CASE_FIXTURE(DeviceFixture,
                  "host: the fences of a dropped graph rethrow its exceptions, which are reported "
                  "without such fences") {
  const auto drop_after = [&](auto&& use) {
    CommandBuffer cmd = recording({.label = "thrower"});
    cmd.host([] { throw std::runtime_error("lost"); });
    CapturedGraph graph = compile(cmd);
    use(graph.launch(queue));
  };
  const auto warnings = [&] {
    device.wait_idle();
    return std::count(messages->begin(), messages->end(), "callback-exception-lost");
  };
  drop_after([](const Fence& fence) { CHECK_THROWS_WITH(fence.wait(), "lost"); });
  CHECK(warnings() == 0);
  Fence kept;
  drop_after([&](const Fence& fence) { kept = fence; });
  CHECK(warnings() == 0);
  CHECK_THROWS_WITH(kept.wait(), "lost");
  drop_after([](const Fence&) {});
  CHECK(warnings() == 1);
}

TEST_CASE_FIXTURE(DeviceFixture, "host: the exceptions of the last 1,024 replays are kept") {
  CommandBuffer cmd = recording();
  int calls = 0;
  cmd.host([&calls] { throw std::runtime_error(std::to_string(++calls)); });
  CapturedGraph graph = compile(cmd);
  std::vector<Fence> fences;
  for (int replay = 0; replay < 1030; ++replay) fences.push_back(graph.launch(queue));
  CHECK_THROWS_WITH_AS(fences.back().wait(), "1030", std::runtime_error);
  CHECK_THROWS_WITH_AS(fences[6].wait(), "7", std::runtime_error);
  CHECK_NOTHROW(fences[5].wait());
}

TEST_CASE_FIXTURE(DeviceFixture, "host: objects dropped in a callback are freed after it") {
  struct Dropped {
    Queue queue;
    GpuRef<unsigned> x;
    CapturedGraph graph;
    Fence fence;
  };
  auto dropped = std::make_unique<Dropped>();
  dropped->queue = device.create_queue({.label = "dropped"});
  dropped->x = pool->allocate<unsigned>(64, "x");
  {
    CommandBuffer fill = recording();
    fill.fill(dropped->x, 1u);
    dropped->graph = compile(fill);
  }
  dropped->fence = dropped->graph.launch(dropped->queue);
  dropped->fence.wait();
  run([&](CommandBuffer& cmd) { cmd.host([&] { dropped.reset(); }); });
  CHECK(dropped == nullptr);
  device.wait_idle();
  CHECK(pool->buffer_count() == 0);
  CHECK(device.statistics().reserved == 0);
}

}  // namespace reprise::test::host_test
