#include "conformance/device_fixture.hpp"
#include "words.shaders.hpp"

namespace reprise::test::execute_test {
namespace {

constexpr unsigned kCount = 512;

}  // namespace

TEST_CASE_FIXTURE(DeviceFixture,
                  "execute: a secondary executed three times runs three times in order") {
  const auto x = buffer(std::vector<unsigned>(kCount, 1), "x");
  const auto t = pool->transient<unsigned>(kCount, "t");
  CommandBuffer secondary = recording({.label = "double and add", .level = Level::Secondary});
  const std::uint32_t five = 5;
  secondary.copy(x, t);
  secondary.dispatch(kernel(shaders::conf_mix), {.grid = 2, .block = 256}, read(t), read_write(x),
                     five, kCount);
  secondary.update(t.slice(0, 1), std::as_bytes(std::span(&five, 1)));
  secondary.end();
  CommandBuffer cmd = recording();
  cmd.execute(secondary);
  {
    auto scope = cmd.label("twice");
    cmd.execute(secondary);
    cmd.execute(secondary);
  }
  // The secondary can be re-recorded: the primary has its own copy.
  secondary.reset();
  CapturedGraph graph = compile(cmd);
  graph.launch(queue).wait();
  unsigned expected = 1;
  for (int i = 0; i < 3; ++i) expected = expected * 1664525u + (expected ^ 5u) + 1013904223u;
  CHECK(values(x) == std::vector<unsigned>(kCount, expected));
  CHECK(graph.to_text().find("twice") != std::string::npos);
}

TEST_CASE_FIXTURE(DeviceFixture,
                  "execute: edges, snapshots and callbacks of a secondary are included") {
  const auto x = pool->allocate<unsigned>(4, "x");
  std::string order;
  CommandBuffer cmd = recording();
  {
    CommandBuffer secondary = recording({.level = Level::Secondary});
    const std::vector<unsigned> values{1, 2, 3, 4};
    const CommandRef a = secondary.host([&order] { order += 'a'; });
    const CommandRef b = secondary.host([&order] { order += 'b'; });
    secondary.edge(b, a);
    secondary.copy(snapshot(values), x);
    secondary.end();
    cmd.execute(secondary);
  }
  run(cmd);
  CHECK(order == "ba");
  CHECK(values(x) == std::vector<unsigned>{1, 2, 3, 4});
}

}  // namespace reprise::test::execute_test
