#include <vector>

#include "conformance/device_fixture.hpp"
#include "support/counting_allocator.hpp"
#include "words.shaders.hpp"

namespace reprise::test::scalar_slot_test {
namespace {

constexpr unsigned kCount = 256;
constexpr DispatchDesc kWords{.grid = 1, .block = kCount};

}  // namespace

TEST_CASE_FIXTURE(DeviceFixture,
                  "scalar slot: the recorded value applies until the first launch after a set") {
  const auto x = pool->allocate<unsigned>(kCount, "x");
  CommandBuffer cmd = recording({.label = "step"});
  cmd.dispatch(kernel(shaders::conf_set), kWords, write(x), slot("value", 7u), kCount);
  CapturedGraph graph = compile(cmd);
  CHECK(graph.to_text().find("slot at 8: \"value\", 4 bytes") != std::string::npos);
  graph.launch(queue).wait();
  CHECK(values(x) == std::vector<unsigned>(kCount, 7));
  auto value = graph.scalar<unsigned>("value");
  CHECK(value.set(8) == 1);
  CHECK(value.set(8) == 0);  // an equal value sets no node
  graph.launch(queue).wait();
  CHECK(values(x) == std::vector<unsigned>(kCount, 8));
  CHECK(value.set(7) == 1);
  graph.launch(queue).wait();
  CHECK(values(x) == std::vector<unsigned>(kCount, 7));
}

TEST_CASE_FIXTURE(DeviceFixture, "scalar slot: queued replays keep their values") {
  constexpr unsigned kReplays = 200;
  const auto sum = buffer(std::vector<unsigned>(kCount, 0), "sum");
  CommandBuffer cmd = recording();
  cmd.dispatch(kernel(shaders::conf_churn), kWords, read_write(sum), 0u, kCount);
  cmd.dispatch(kernel(shaders::conf_mix), kWords, read(sum), read_write(sum.slice(0, kCount)),
               slot("salt", 0u), kCount);
  CapturedGraph graph = compile(cmd);
  auto salt = graph.scalar<unsigned>("salt");
  unsigned expected = 0;
  for (unsigned i = 0; i < kReplays; ++i) {
    salt.set(i * 77u);
    expected = expected * 1664525u + (expected ^ (i * 77u)) + 1013904223u;
    static_cast<void>(graph.launch(queue));
  }
  queue.wait_idle();
  CHECK(values(sum) == std::vector<unsigned>(kCount, expected));
}

TEST_CASE_FIXTURE(DeviceFixture,
                  "scalar slot: one name in several commands is one slot, in secondaries too") {
  const auto x = pool->allocate<unsigned>(kCount, "x"), y = pool->allocate<unsigned>(kCount, "y");
  const Kernel set = kernel(shaders::conf_set);
  CommandBuffer secondary = recording({.label = "set x", .level = Level::Secondary});
  secondary.dispatch(set, kWords, write(x), slot("value", 1u), kCount);
  secondary.end();
  CommandBuffer cmd = recording();
  cmd.execute(secondary);
  cmd.dispatch(set, kWords, write(y), slot("value", 1u), kCount);
  CapturedGraph graph = compile(cmd);
  secondary.reset();
  CHECK(graph.scalar<unsigned>("value").set(5) == 2);
  graph.launch(queue).wait();
  CHECK(values(x) == std::vector<unsigned>(kCount, 5));
  CHECK(values(y) == std::vector<unsigned>(kCount, 5));
}

TEST_CASE_FIXTURE(DeviceFixture,
                  "scalar slot: it works on other queues and outlives the graph's handle") {
  const auto x = pool->allocate<unsigned>(kCount, "x");
  CommandBuffer cmd = recording();
  cmd.dispatch(kernel(shaders::conf_set), kWords, write(x), slot("value", 1u), kCount);
  const Queue other = device.create_queue({.label = "other"});
  GraphScalar<unsigned> value;
  CHECK_FALSE(value);
  {
    CapturedGraph graph = compile(cmd);
    value = graph.scalar<unsigned>("value");
    static_cast<void>(graph.launch(queue));
    value.set(2);
    graph.launch(other).wait();
    CHECK(values(x) == std::vector<unsigned>(kCount, 2));
  }
  CHECK(value.set(3) == 1);
}

TEST_CASE_FIXTURE(
    DeviceFixture,
    "scalar slot: unknown names, other sizes and contradictions are refused, naming the slot") {
  const auto x = pool->allocate<unsigned>(kCount, "x");
  const Kernel set = kernel(shaders::conf_set);
  CommandBuffer cmd = recording({.label = "step"});
  cmd.dispatch(set, kWords, write(x), slot("value", 1u), kCount);
  CapturedGraph graph = compile(cmd);
  check_refused(ErrorCode::InvalidArgument, {"step", "\"alpha\"", "it has value"},
                [&] { static_cast<void>(graph.scalar<unsigned>("alpha")); });
  check_refused(ErrorCode::ArgumentType, {"\"value\"", "holds unsigned int", "not double"},
                [&] { static_cast<void>(graph.scalar<double>("value")); });
  check_refused(ErrorCode::ArgumentType, {"\"value\"", "holds unsigned int", "not float"},
                [&] { static_cast<void>(graph.scalar<float>("value")); });

  CommandBuffer two = recording();
  two.dispatch(set, kWords, write(x), slot("value", 1u), kCount);
  two.dispatch(set, kWords, write(x), slot("value", 2u), kCount);
  check_refused(ErrorCode::InvalidArgument,
                {"command 1", "\"value\"", "different initial value", "command 0"},
                [&] { static_cast<void>(compile(two)); });
  CommandBuffer wrong = recording();
  check_refused(ErrorCode::ArgumentType,
                {"argument 1", "conf_set", "expected unsigned int", "a slot of double"},
                [&] { wrong.dispatch(set, kWords, write(x), slot("value", 1.0), kCount); });
  check_refused(ErrorCode::ArgumentType, {"expected unsigned int", "a slot of int"},
                [&] { wrong.dispatch(set, kWords, write(x), slot("value", 1), kCount); });
}

TEST_CASE_FIXTURE(DeviceFixture, "scalar slot: a launch after a set allocates nothing") {
  const auto x = pool->allocate<unsigned>(kCount, "x");
  CommandBuffer cmd = recording();
  cmd.dispatch(kernel(shaders::conf_set), kWords, write(x), slot("value", 1u), kCount);
  CapturedGraph graph = compile(cmd);
  auto value = graph.scalar<unsigned>("value");
  // Lets internal arrays reach their final capacity.
  for (unsigned i = 2; i < 80; ++i) {
    value.set(i);
    static_cast<void>(graph.launch(queue));
  }
  queue.wait_idle();
  value.set(1000);
  const std::uint64_t before = allocations_of_this_thread();
  const Fence fence = graph.launch(queue);
  CHECK(allocations_of_this_thread() == before);
  fence.wait();
  CHECK(values(x) == std::vector<unsigned>(kCount, 1000));
}

}  // namespace reprise::test::scalar_slot_test
