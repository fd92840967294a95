// Device loss and rebuild.
#include <doctest/doctest.h>

#include <vector>

#include "unit/runtime/fake_backend.hpp"

using namespace reprise;
using namespace reprise::test;

namespace {

struct Loss : FakeRun {
  GpuRef<int> x = pool->allocate<int>(4, "x");
  CommandBuffer commands = device.create_command_buffer({.label = "step"});
  Loss() {
    const Kernel kernel = device.load_kernel(fake_kernel());
    commands.begin();
    commands.dispatch(kernel, {.grid = 1, .block = 1}, write(x), 4);
    commands.end();
  }
};

}  // namespace

TEST_CASE_FIXTURE(
    Loss,
    "loss: a fence of a running replay throws DeviceLost that names graph, replay and queue") {
  CapturedGraph graph = device.compile(commands);
  (void)graph.launch(queue);
  fake.world.complete_all();
  const Fence fence = graph.launch(queue);
  device.simulate_loss();
  CHECK(device.is_lost());
  CHECK(device.generation() == 2);
  for (const auto& call :
       {std::function<void()>([&] { fence.wait(); }),
        std::function<void()>([&] { (void)fence.done(); }),
        std::function<void()>([&] { (void)fence.wait_for(std::chrono::nanoseconds(1)); })}) {
    const ErrorDetails lost = error_of(call);
    CHECK(lost.code == ErrorCode::DeviceLost);
    CHECK(lost.label == "step");
    CHECK(text_of(call).find("replay 2 of graph step on queue q") != std::string::npos);
  }
  CHECK(error_of([&] { queue.wait_idle(); }).code == ErrorCode::DeviceLost);
  CHECK(error_of([&] { device.wait_idle(); }).code == ErrorCode::DeviceLost);
}

TEST_CASE_FIXTURE(Loss,
                  "rebuild: it returns a new handle for each buffer, and old ones stay stale") {
  auto h = pool->host<int>(8, "h");
  auto t = pool->transient<int>(2, "t");
  device.simulate_loss();
  auto rebuilt = device.rebuild();
  CHECK_FALSE(device.is_lost());
  CHECK(device.generation() == 2);
  REQUIRE(rebuilt.size() == 3);
  for (const RebuiltBuffer& buffer : rebuilt) {
    CHECK(buffer.before.is_stale());
    CHECK_FALSE(buffer.after.is_stale());
    CHECK(buffer.after.name() == buffer.before.name());
    CHECK(buffer.after.bytes() == buffer.before.bytes());
    CHECK(buffer.after.kind() == buffer.before.kind());
    CHECK(buffer.after.id() != buffer.before.id());
  }
  CHECK(error_of([&] { (void)x.data(); }).code == ErrorCode::StaleHandle);
  CHECK(pool->buffer_count() == 3);
  // The old buffer counts until its last handle is released.
  std::vector<BufferView> replacements;
  for (const RebuiltBuffer& buffer : rebuilt) replacements.push_back(buffer.after);
  rebuilt.clear();
  x = {};
  device.wait_idle();
  CHECK(pool->statistics().buffer_bytes == 16);
  CHECK(error_of([&] { (void)device.rebuild(); }).code == ErrorCode::InvalidState);
}

TEST_CASE_FIXTURE(Loss,
                  "rebuild: recordings compile again with new memory and reloaded kernels, and "
                  "replay on a new queue") {
  CapturedGraph before = device.compile(commands);
  (void)before.launch(queue);
  device.simulate_loss();
  const auto rebuilt = device.rebuild();
  CHECK(commands.state() == CommandBufferState::Executable);
  CHECK(fake.world.kernel_loads() == 2);
  CapturedGraph graph = device.compile(commands);
  CHECK(graph.report().plan_hash == before.report().plan_hash);
  CHECK(error_of([&] { (void)graph.launch(queue); }).code == ErrorCode::StaleHandle);
  CHECK(error_of([&] { (void)before.launch(queue); }).code == ErrorCode::StaleHandle);
  CHECK(error_of([&] { queue.wait(Fence(graph.launch(device.create_queue()))); }).code ==
        ErrorCode::StaleHandle);
  Queue fresh = device.create_queue({.label = "fresh"});
  const Fence fence = graph.launch(fresh);
  fake.world.complete_all();
  fence.wait();
  CHECK(graph.num_replays() == 2);
}

TEST_CASE_FIXTURE(
    Loss, "rebuild: it works after each loss, and keeps buffers that only a recording holds") {
  x = {};
  for (std::uint32_t round = 2; round < 5; ++round) {
    device.simulate_loss();
    CHECK(device.rebuild().size() == 1);
    CHECK(device.generation() == round);
    CapturedGraph graph = device.compile(commands);
    const Fence fence = graph.launch(device.create_queue({.label = "again"}));
    fake.world.complete_all();
    fence.wait();
  }
}

TEST_CASE_FIXTURE(Loss, "rebuild: a failure leaves the device lost, and a second attempt works") {
  device.simulate_loss();
  for (std::uint64_t n = 0;; ++n) {
    fake.world.fail_call(n);
    try {
      const auto rebuilt = device.rebuild();
      CHECK(rebuilt.size() == 1);
      break;
    } catch (const Error& error) {
      CHECK(error.details().native_call == fake.world.failed_call());
      CHECK(device.is_lost());
      CHECK(pool->buffer_count() == 1);
      CHECK(commands.state() == CommandBufferState::Invalid);
    }
    CHECK(n < 10);
  }
  fake.world.fail_nothing();
  CHECK_FALSE(device.is_lost());
  CHECK(device.compile(commands).node_count() == 1);
}

TEST_CASE("simulate_loss: it is refused if the device does not support it") {
  FakeInstance fake({}, {{"cuda:0", DeviceKind::Cuda}});
  Device device = fake.open("cuda:0");
  CHECK(error_of([&] { device.simulate_loss(); }).code == ErrorCode::Unsupported);
  CHECK_FALSE(device.is_lost());
}

TEST_CASE_FIXTURE(Loss, "loss: objects dropped during a replay are freed without waiting for it") {
  CapturedGraph graph = device.compile(commands);
  (void)graph.launch(queue);
  device.simulate_loss();
  graph = {};
  queue = {};
  x = {};
  commands.reset();
  CHECK(device.rebuild().empty());
  device.wait_idle();
  CHECK(fake.world.execs() == 0);
  CHECK(fake.world.memory_blocks() == 0);
}
