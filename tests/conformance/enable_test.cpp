#include <vector>

#include "conformance/device_fixture.hpp"
#include "words.shaders.hpp"

namespace reprise::test::enable_test {
namespace {

constexpr unsigned kCount = 128;
constexpr DispatchDesc kWords{.grid = 1, .block = kCount};

}  // namespace

TEST_CASE_FIXTURE(
    DeviceFixture,
    "enable: a disabled dispatch, copy, fill or update has no effect until it is enabled") {
  const auto x = buffer(std::vector<unsigned>(kCount, 0), "x"),
             y = buffer(std::vector<unsigned>(kCount, 0), "y"),
             z = buffer(std::vector<unsigned>(kCount, 0), "z"),
             w = buffer(std::vector<unsigned>(kCount, 0), "w");
  const unsigned nine = 9;
  CommandBuffer cmd = recording();
  const CommandRef set = cmd.dispatch(kernel(shaders::conf_set), kWords, write(x), 4u, kCount);
  const CommandRef copied = cmd.copy(x, y);
  const CommandRef filled = cmd.fill(z, 3u);
  const CommandRef updated = cmd.update(w.slice(0, 1), std::as_bytes(std::span(&nine, 1)));
  CapturedGraph graph = compile(cmd);
  for (const CommandRef& command : {set, copied, filled, updated}) {
    CHECK(graph.is_enabled(command));
    graph.disable(command);
    graph.disable(command);  // no effect: already disabled
    CHECK_FALSE(graph.is_enabled(command));
  }
  graph.launch(queue).wait();
  for (const auto& b : {x, y, z, w}) CHECK(values(b) == std::vector<unsigned>(kCount, 0));
  graph.enable(set);
  graph.enable(filled);
  graph.launch(queue).wait();
  CHECK(values(x) == std::vector<unsigned>(kCount, 4));
  CHECK(values(y) == std::vector<unsigned>(kCount, 0));
  CHECK(values(z) == std::vector<unsigned>(kCount, 3));
  graph.enable(copied);
  graph.enable(updated);
  graph.launch(queue).wait();
  CHECK(values(y) == std::vector<unsigned>(kCount, 4));
  CHECK(values(w)[0] == 9u);
}

TEST_CASE_FIXTURE(
    DeviceFixture,
    "enable: queued replays are unaffected, and order around a disabled command remains") {
  const auto x = buffer(std::vector<unsigned>(kCount, 1), "x");
  const Kernel mix = kernel(shaders::conf_mix);
  const auto y = buffer(std::vector<unsigned>(kCount, 5), "y");
  CommandBuffer cmd = recording();
  cmd.dispatch(mix, kWords, read(y), read_write(x), 1u, kCount);
  const CommandRef middle = cmd.dispatch(mix, kWords, read(y), read_write(x), 2u, kCount);
  cmd.dispatch(mix, kWords, read(y), read_write(x), 3u, kCount);
  CapturedGraph graph = compile(cmd);
  unsigned expected = 1;
  const auto step = [&](unsigned salt) {
    expected = expected * 1664525u + (5u ^ salt) + 1013904223u;
  };
  for (unsigned i = 0; i < 60; ++i) {
    if (i % 2 == 0) graph.disable(middle);
    if (i % 2 == 1) graph.enable(middle);
    static_cast<void>(graph.launch(queue));
    step(1);
    if (i % 2 == 1) step(2);
    step(3);
  }
  queue.wait_idle();
  CHECK(values(x) == std::vector<unsigned>(kCount, expected));
}

TEST_CASE_FIXTURE(DeviceFixture,
                  "enable: references find commands of split recorders and after secondaries") {
  const auto x = buffer(std::vector<unsigned>(4, 0), "x");
  CommandBuffer secondary = recording({.label = "s", .level = Level::Secondary});
  secondary.fill(x.slice(3, 1), 3u);
  secondary.end();
  CommandBuffer cmd = recording();
  cmd.execute(secondary);
  auto recorders = cmd.split(2);
  recorders[1].fill(x.slice(1, 1), 1u);
  recorders[0].fill(x.slice(0, 1), 1u);
  const CommandRef disabled = recorders[1].fill(x.slice(2, 1), 2u);
  cmd.end();
  CapturedGraph graph = compile(cmd);
  graph.disable(disabled);
  graph.launch(queue).wait();
  CHECK(values(x) == std::vector<unsigned>{1, 1, 0, 3});
}

TEST_CASE_FIXTURE(DeviceFixture,
                  "enable: host callbacks and commands of other recordings are refused") {
  const auto x = pool->allocate<unsigned>(4, "x");
  CommandBuffer cmd = recording({.label = "step"});
  cmd.fill(x, 1u);
  const CommandRef callback = cmd.host([] {});
  CapturedGraph graph = compile(cmd);
  check_refused(ErrorCode::Unsupported, {"disable", "host callback", "only dispatches"},
                [&] { graph.disable(callback); });
  CommandBuffer other = recording();
  const CommandRef foreign = other.fill(x, 2u);
  other.end();
  check_refused(ErrorCode::InvalidArgument, {"disable", "step"}, [&] { graph.disable(foreign); });
  check_refused(ErrorCode::InvalidArgument, {"is_enabled", "step"},
                [&] { static_cast<void>(graph.is_enabled(foreign)); });
}

TEST_CASE_FIXTURE(
    DeviceFixture,
    "enable: a command of an inlined secondary is disabled and enabled in all its copies") {
  const auto x = pool->allocate<unsigned>(kCount, "x"), y = pool->allocate<unsigned>(kCount, "y");
  const Kernel add = kernel(shaders::conf_add);
  CommandRef inner_one, outer_ten;
  CommandBuffer inner = device.create_command_buffer({.label = "inner", .level = Level::Secondary});
  inner.begin();
  inner_one = inner.dispatch(add, kWords, read(x), write(x), 1u, kCount);
  inner.end();
  CommandBuffer outer = device.create_command_buffer({.label = "outer", .level = Level::Secondary});
  outer.begin();
  outer.execute(inner);
  outer_ten = outer.dispatch(add, kWords, read(x), write(x), 10u, kCount);
  outer.execute(inner);
  outer.end();
  CommandBuffer cmd = recording({.label = "step"});
  cmd.fill(x, 0u);
  cmd.execute(outer);
  std::vector<Recorder> split = cmd.split(2);
  split[0].execute(inner);
  split[1].execute(outer, Nested);
  cmd.execute(outer);
  cmd.fill(y, 0u);
  cmd.end();
  CapturedGraph graph = compile(cmd);
  const auto check_sum = [&](unsigned expected) {
    graph.launch(queue).wait();
    CHECK(values(x) == std::vector<unsigned>(kCount, expected));
  };
  check_sum(3 * 12 + 1);
  CHECK(graph.is_enabled(inner_one));
  graph.disable(inner_one);
  CHECK_FALSE(graph.is_enabled(inner_one));
  check_sum(3 * 10);
  graph.disable(outer_ten);
  check_sum(0);
  graph.enable(inner_one);
  check_sum(3 * 2 + 1);
  graph.enable(outer_ten);
  CHECK(graph.is_enabled(outer_ten));
  check_sum(3 * 12 + 1);
  inner.begin();  // recorded again: its references are new, the graph keeps the old commands
  const CommandRef again = inner.dispatch(add, kWords, read(x), write(x), 1u, kCount);
  inner.end();
  check_refused(ErrorCode::InvalidArgument, {"disable", "step"}, [&] { graph.disable(again); });
}

TEST_CASE_FIXTURE(DeviceFixture,
                  "enable: references of inlined secondaries survive an update to a recording that "
                  "inlines them") {
  const auto x = pool->allocate<unsigned>(kCount, "x");
  CommandBuffer secondary = device.create_command_buffer({.level = Level::Secondary});
  secondary.begin();
  const CommandRef two = secondary.fill(x, 2u);
  secondary.end();
  CommandBuffer first = recording({.label = "step"});
  first.fill(x, 1u);
  first.execute(secondary);
  first.end();
  CapturedGraph graph = compile(first);
  graph.disable(two);
  CommandBuffer second = recording();
  second.execute(secondary);
  second.fill(x.slice(0, 1), 4u);
  second.end();
  CHECK(graph.update(second).done());
  CHECK(graph.is_enabled(two));
  graph.launch(queue).wait();
  std::vector<unsigned> expected(kCount, 2);
  expected[0] = 4;
  CHECK(values(x) == expected);
  graph.disable(two);
  run([&](CommandBuffer& c) { c.fill(x, 0u); });
  graph.launch(queue).wait();
  expected.assign(kCount, 0);
  expected[0] = 4;
  CHECK(values(x) == expected);
}

}  // namespace reprise::test::enable_test
