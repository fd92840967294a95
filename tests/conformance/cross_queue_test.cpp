#include "conformance/device_fixture.hpp"
#include "words.shaders.hpp"

namespace reprise::test::cross_queue_test {
namespace {

constexpr unsigned kCount = 4096, kRounds = 3000;
constexpr DispatchDesc kWords{.grid = kCount / 256, .block = 256};

unsigned churned(unsigned value, unsigned rounds) {
  for (unsigned r = 0; r < rounds; ++r) value = value * 1664525u + 1013904223u;
  return value;
}

struct CrossQueueFixture : DeviceFixture {
  Queue other = device.create_queue({.label = "other"});
  Kernel set = kernel(shaders::conf_set), add = kernel(shaders::conf_add),
         churn = kernel(shaders::conf_churn);
  GpuRef<unsigned> x = pool->allocate<unsigned>(kCount, "x"),
                   y = pool->allocate<unsigned>(kCount, "y");

  [[nodiscard]] CapturedGraph graph(const std::function<void(CommandBuffer&)>& record) const {
    CommandBuffer cmd = recording();
    record(cmd);
    return compile(cmd);
  }
  // Writes x late, so that a reader that does not wait sees the old values.
  [[nodiscard]] CapturedGraph slow_writer(unsigned value) const {
    return graph([&](CommandBuffer& cmd) {
      cmd.dispatch(set, kWords, write(x), value, kCount);
      cmd.dispatch(churn, kWords, read_write(x), kRounds, kCount);
    });
  }
  // Reads x late: the values written to y depend on x at the end of the replay.
  [[nodiscard]] CapturedGraph slow_reader() const {
    const auto t = pool->transient<unsigned>(kCount, "t");
    return graph([&](CommandBuffer& cmd) {
      cmd.dispatch(set, kWords, write(t), 1u, kCount);
      const CommandRef slower = cmd.dispatch(churn, kWords, read_write(t), kRounds, kCount);
      const CommandRef reads_x = cmd.dispatch(add, kWords, read(x), write(y), 0u, kCount);
      cmd.edge(slower, reads_x);
    });
  }
};

}  // namespace

TEST_CASE_FIXTURE(CrossQueueFixture,
                  "cross-queue: a read after a write on another queue waits for it") {
  CapturedGraph writer = slow_writer(7);
  CapturedGraph reader =
      graph([&](CommandBuffer& cmd) { cmd.dispatch(add, kWords, read(x), write(y), 1u, kCount); });
  for (int round = 0; round < 3; ++round) {
    static_cast<void>(writer.launch(queue));
    reader.launch(other).wait();
    CHECK(values(y) == std::vector<unsigned>(kCount, churned(7, kRounds) + 1));
  }
}

TEST_CASE_FIXTURE(CrossQueueFixture,
                  "cross-queue: a write after a read on another queue waits for it") {
  CapturedGraph reader = slow_reader();
  CapturedGraph writer =
      graph([&](CommandBuffer& cmd) { cmd.dispatch(set, kWords, write(x), 99u, kCount); });
  for (unsigned round = 0; round < 3; ++round) {
    run([&](CommandBuffer& cmd) { cmd.fill(x, round); });
    static_cast<void>(reader.launch(queue));
    static_cast<void>(writer.launch(other));
    device.wait_idle();
    CHECK(values(y) == std::vector<unsigned>(kCount, round));
    CHECK(values(x) == std::vector<unsigned>(kCount, 99));
  }
}

TEST_CASE_FIXTURE(CrossQueueFixture,
                  "cross-queue: a write after a write on another queue is ordered after it") {
  CapturedGraph slow = slow_writer(7);
  CapturedGraph fast =
      graph([&](CommandBuffer& cmd) { cmd.dispatch(set, kWords, write(x), 5u, kCount); });
  for (int round = 0; round < 3; ++round) {
    static_cast<void>(slow.launch(queue));
    static_cast<void>(fast.launch(other));
    device.wait_idle();
    CHECK(values(x) == std::vector<unsigned>(kCount, 5));
  }
}

TEST_CASE_FIXTURE(CrossQueueFixture,
                  "cross-queue: one graph on two queues runs one replay after the other") {
  run([&](CommandBuffer& cmd) { cmd.fill(x, 0u); });
  CapturedGraph step =
      graph([&](CommandBuffer& cmd) { cmd.dispatch(churn, kWords, read_write(x), 50u, kCount); });
  for (int i = 0; i < 20; ++i) static_cast<void>(step.launch(i % 2 == 0 ? queue : other));
  device.wait_idle();
  CHECK(values(x) == std::vector<unsigned>(kCount, churned(0, 1000)));
}

TEST_CASE_FIXTURE(CrossQueueFixture, "cross-queue: a buffer reports the queue of its last write") {
  CHECK(x.last_write_stream() == Queue());
  CapturedGraph write_x = graph([&](CommandBuffer& cmd) { cmd.fill(x, 1u); });
  CapturedGraph copy_x = graph([&](CommandBuffer& cmd) { cmd.copy(x, y); });
  static_cast<void>(write_x.launch(other));
  static_cast<void>(copy_x.launch(queue));
  CHECK(x.last_write_stream() == other);
  CHECK(y.last_write_stream() == queue);
  device.wait_idle();
}

TEST_CASE_FIXTURE(CrossQueueFixture,
                  "cross-queue: a launch waits for work registered by record_write") {
  CapturedGraph slow = slow_writer(3);
  const Fence fence = slow.launch(queue);
  y.record_write(fence);
  CHECK(y.last_write_stream() == queue);
  CapturedGraph reader =
      graph([&](CommandBuffer& cmd) { cmd.copy(y, pool->transient<unsigned>(kCount, "t")); });
  reader.launch(other).wait();
  CHECK(fence.done());
  y.record_write(other);
  CHECK(y.last_write_stream() == other);
}

}  // namespace reprise::test::cross_queue_test
