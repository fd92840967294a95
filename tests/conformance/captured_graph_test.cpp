#include <future>

#include "conformance/device_fixture.hpp"
#include "support/counting_allocator.hpp"
#include "words.shaders.hpp"

namespace reprise::test::captured_graph_test {

TEST_CASE_FIXTURE(DeviceFixture,
                  "captured graph: it reports its replays, pool, buffers and nodes") {
  const auto x = pool->allocate<unsigned>(64, "x"), y = pool->allocate<unsigned>(64, "y");
  CommandBuffer cmd = recording({.label = "step"});
  cmd.fill(x, 1u);
  cmd.copy(x, y);
  CapturedGraph graph = compile(cmd);
  CHECK(graph);
  CHECK(graph.label() == "step");
  CHECK(graph.has_pool());
  CHECK(graph.pool() == pool);
  CHECK(graph.pool_buffer_count() == 2);
  CHECK(graph.node_count() == 2);
  CHECK(graph.report().commands == 2);
  CHECK(graph.report().needed_edges == 1);
  CHECK(graph.num_replays() == 0);
  for (std::uint64_t replay = 1; replay <= 3; ++replay) {
    const Fence fence = graph.launch(queue);
    CHECK(fence.replay() == replay);
    CHECK(graph.num_replays() == replay);
  }
  queue.wait_idle();
  CapturedGraph named = device.compile(cmd, {.label = "other"});
  CHECK(named.label() == "other");
  CHECK_FALSE(named.has_pool());
  CHECK(named.pool() == nullptr);
}

TEST_CASE_FIXTURE(DeviceFixture,
                  "captured graph: upload is optional, repeatable and not a replay") {
  const auto x = pool->allocate<unsigned>(64, "x");
  CommandBuffer cmd = recording();
  cmd.fill(x, 6u);
  CapturedGraph graph = compile(cmd);
  CHECK_FALSE(graph.is_uploaded());
  graph.upload(queue);
  CHECK(graph.is_uploaded());
  graph.upload(queue);
  CHECK(graph.num_replays() == 0);
  graph.launch(queue).wait();
  CHECK(values(x) == std::vector<unsigned>(64, 6));
  CapturedGraph never_uploaded = device.compile(cmd);
  never_uploaded.launch(queue).wait();
  CHECK(never_uploaded.is_uploaded());
}

TEST_CASE_FIXTURE(DeviceFixture,
                  "captured graph: a command buffer can be compiled repeatedly, is Pending while a "
                  "graph runs, and can be re-recorded after") {
  const auto x = pool->allocate<unsigned>(64, "x");
  CommandBuffer cmd = recording();
  cmd.fill(x, 1u);
  CapturedGraph first = compile(cmd), second = compile(cmd);
  static_cast<void>(first.launch(queue));
  second.launch(queue).wait();
  queue.wait_idle();
  CHECK(cmd.state() == CommandBufferState::Executable);
  cmd.begin();
  cmd.fill(x, 2u);
  CapturedGraph third = compile(cmd);
  third.launch(queue).wait();
  CHECK(values(x) == std::vector<unsigned>(64, 2));
  // The first graph keeps the contents it was compiled from.
  first.launch(queue).wait();
  CHECK(values(x) == std::vector<unsigned>(64, 1));
}

TEST_CASE_FIXTURE(DeviceFixture,
                  "captured graph: while a callback of it waits, its command buffer is Pending and "
                  "refuses to be reset") {
  std::promise<void> go;
  std::shared_future<void> released = go.get_future().share();
  CommandBuffer cmd = recording({.label = "step"});
  cmd.host([released] { released.wait(); });
  CapturedGraph graph = compile(cmd);
  const Fence fence = graph.launch(queue);
  CHECK(cmd.state() == CommandBufferState::Pending);
  CHECK_FALSE(fence.done());
  check_refused(ErrorCode::InvalidState, {"reset", "step", "Pending"}, [&] { cmd.reset(); });
  check_refused(ErrorCode::InvalidState, {"begin", "Pending"}, [&] { cmd.begin(); });
  go.set_value();
  fence.wait();
  CHECK(cmd.state() == CommandBufferState::Executable);
  cmd.reset();
}

TEST_CASE_FIXTURE(DeviceFixture,
                  "captured graph: command buffers that are not executable are refused") {
  CommandBuffer cmd = recording({.label = "step"});
  check_refused(ErrorCode::InvalidState, {"step", "Recording"},
                [&] { static_cast<void>(device.compile(cmd)); });
  CommandBuffer initial = device.create_command_buffer({.label = "never begun"});
  check_refused(ErrorCode::InvalidState, {"never begun", "Initial"},
                [&] { static_cast<void>(device.compile(initial)); });
}

TEST_CASE_FIXTURE(DeviceFixture, "captured graph: launching and waiting allocate nothing") {
  const auto x = pool->allocate<unsigned>(64, "x"), y = pool->allocate<unsigned>(64, "y");
  const auto t = pool->transient<unsigned>(64, "t");
  CommandBuffer cmd = recording();
  cmd.fill(t, 3u);
  cmd.dispatch(kernel(shaders::conf_add), {.grid = 1, .block = 64}, read(t), write(x), 1u, 64u);
  cmd.copy(x, y);
  CapturedGraph graph = compile(cmd);
  for (int warm_up = 0; warm_up < 3; ++warm_up) graph.launch(queue).wait();
  const std::uint64_t before = allocations_of_this_thread();
  for (int replay = 0; replay < 100; ++replay) graph.launch(queue).wait();
  CHECK(allocations_of_this_thread() - before == 0);
}

TEST_CASE_FIXTURE(DeviceFixture,
                  "captured graph: the same recording gives the same text, DOT and hashes") {
  const auto record = [&] {
    const auto t = pool->transient<unsigned>(64, "t");
    const auto x = pool->allocate<unsigned>(64, "x");
    CommandBuffer cmd = recording({.label = "step"});
    cmd.fill(t, 1u);
    cmd.dispatch(kernel(shaders::conf_add), {.grid = 1, .block = 64}, read(t), write(x), 2u, 64u);
    return compile(cmd);
  };
  const CapturedGraph a = record(), b = record();
  CHECK(a.to_text() == b.to_text());
  CHECK(a.to_dot() == b.to_dot());
  CHECK(a.report().plan_hash == b.report().plan_hash);
  CHECK(a.report().lowering_hash == b.report().lowering_hash);
}

}  // namespace reprise::test::captured_graph_test
