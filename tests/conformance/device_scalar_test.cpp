#include <vector>

#include "conformance/device_fixture.hpp"
#include "words.shaders.hpp"

namespace reprise::test::device_scalar_test {
namespace {

constexpr unsigned kCount = 256;
constexpr DispatchDesc kWords{.grid = 1, .block = kCount};

}  // namespace

TEST_CASE_FIXTURE(
    DeviceFixture,
    "device scalar: it has its initial value, and each launch sees the last value set before it") {
  DeviceScalar<unsigned> scalar(*pool, queue, 5, "alpha");
  const auto back = pool->host<unsigned>(1, "back");
  CommandBuffer cmd = recording();
  cmd.copy(scalar, back);
  CapturedGraph graph = compile(cmd);
  graph.launch(queue).wait();
  CHECK(back[0] == 5u);
  scalar.set(6);
  graph.launch(queue).wait();
  CHECK(back[0] == 6u);
}

TEST_CASE_FIXTURE(
    DeviceFixture,
    "device scalar: each queued replay sees its own value when sets exceed the ring size") {
  constexpr unsigned kReplays = 3000;
  struct Pair {
    unsigned value, other;
  };
  DeviceScalar<Pair> scalar(*pool, queue, {0, 0}, "pair");
  const auto salt = GpuRef<unsigned>(scalar.subview(0, sizeof(unsigned)));
  const auto state = buffer(std::vector<unsigned>{1}, "state");
  CommandBuffer cmd = recording();
  cmd.dispatch(kernel(shaders::conf_mix), {.grid = 1, .block = 1}, read(salt), read_write(state),
               3u, 1u);
  CapturedGraph graph = compile(cmd);
  unsigned expected = 1;
  for (unsigned i = 0; i < kReplays; ++i) {
    scalar.set({i * 31u, i});
    static_cast<void>(graph.launch(queue));
    expected = expected * 1664525u + ((i * 31u) ^ 3u) + 1013904223u;
  }
  queue.wait_idle();
  CHECK(values(state)[0] == expected);
}

TEST_CASE_FIXTURE(DeviceFixture,
                  "device scalar: sets and launches on other queues wait for each other") {
  const Queue other = device.create_queue({.label = "other"});
  DeviceScalar<unsigned> scalar(*pool, queue, 0, "scalar");
  const auto x = buffer(std::vector<unsigned>(kCount, 1), "x");
  const auto seen = pool->allocate<unsigned>(1, "seen");
  CommandBuffer cmd = recording();
  cmd.dispatch(kernel(shaders::conf_churn), kWords, read_write(x), 20000u, kCount);
  cmd.copy(scalar, seen, SourceLocation::current());
  CapturedGraph graph = compile(cmd);
  for (unsigned i = 1; i <= 20; ++i) {
    scalar.set(i);
    static_cast<void>(graph.launch(other));
    scalar.set(1000 + i);  // takes effect after the earlier launch's read
    other.wait_idle();
    CHECK(values(seen)[0] == i);
  }
}

}  // namespace reprise::test::device_scalar_test
