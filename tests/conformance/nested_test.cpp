#include "conformance/device_fixture.hpp"
#include "support/small_stack.hpp"
#include "words.shaders.hpp"

namespace reprise::test::nested_test {
namespace {

constexpr unsigned kCount = 512;

struct NestedFixture : DeviceFixture {
  GpuRef<unsigned> x = buffer(std::vector<unsigned>(kCount, 1), "x");
  GpuRef<unsigned> t = pool->transient<unsigned>(kCount, "t");

  // Applies conf_mix to x through the transient t.
  [[nodiscard]] CommandBuffer step(std::string_view label, unsigned salt) const {
    CommandBuffer made = recording({.label = label, .level = Level::Secondary});
    made.copy(x, t);
    made.dispatch(kernel(shaders::conf_mix), {.grid = 2, .block = 256}, read(t), read_write(x),
                  salt, kCount);
    made.end();
    return made;
  }
  static unsigned mixed(unsigned value, unsigned salt) {
    return value * 1664525u + (value ^ salt) + 1013904223u;
  }
};

}  // namespace

TEST_CASE_FIXTURE(NestedFixture,
                  "nested: a secondary is one command, ordered by the union of its accesses") {
  const CommandBuffer first = step("first", 5), second = step("second", 9);
  CommandBuffer cmd = recording();
  cmd.execute(first, Nested);
  cmd.execute(second, Nested);
  cmd.execute(first, Nested);
  CHECK(cmd.command_count() == 3);
  CapturedGraph graph = compile(cmd);
  CHECK(graph.report().needed_edges == 2);
  CHECK(graph.report().slab_bytes >= kCount * sizeof(unsigned));
  unsigned expected = 1;
  for (int replay = 0; replay < 3; ++replay) {
    graph.launch(queue).wait();
    for (const unsigned salt : {5u, 9u, 5u}) expected = mixed(expected, salt);
    CHECK(values(x) == std::vector<unsigned>(kCount, expected));
  }
  const std::string text = graph.to_text();
  CHECK(text.find("nested first") != std::string::npos);
  CHECK(text.find("body 2") != std::string::npos);
}

TEST_CASE_FIXTURE(NestedFixture,
                  "nested: one secondary in several primaries can be re-recorded afterwards") {
  CommandBuffer shared = step("shared", 3);
  CommandBuffer one = recording(), two = recording();
  one.execute(shared, Nested);
  two.execute(shared, Nested);
  two.execute(shared, Nested);
  CapturedGraph first = compile(one), second = compile(two);
  shared.reset();
  shared = step("other", 77);
  first.launch(queue).wait();
  second.launch(queue).wait();
  first.launch(queue).wait();
  unsigned expected = 1;
  for (int i = 0; i < 4; ++i) expected = mixed(expected, 3);
  CHECK(values(x) == std::vector<unsigned>(kCount, expected));
}

TEST_CASE_FIXTURE(NestedFixture, "nested: callbacks, snapshots and updates work two levels deep") {
  const auto y = pool->allocate<unsigned>(4, "y");
  std::string order;
  CommandBuffer inner = recording({.label = "inner", .level = Level::Secondary});
  const std::vector<unsigned> four{1, 2, 3, 4};
  const unsigned nine = 9;
  inner.copy(snapshot(four), y);
  inner.update(y.slice(1, 1), std::as_bytes(std::span(&nine, 1)));
  const CommandRef a = inner.host([&order] { order += 'a'; });
  const CommandRef b = inner.host([&order] { order += 'b'; });
  inner.edge(b, a);
  inner.end();
  CommandBuffer middle = recording({.label = "middle", .level = Level::Secondary});
  const CommandRef in = middle.execute(inner, Nested);
  const CommandRef m = middle.host([&order] { order += 'm'; });
  middle.edge(in, m);
  middle.end();
  CommandBuffer cmd = recording();
  const CommandRef whole = cmd.execute(middle, Nested);
  const CommandRef last = cmd.host([&order] { order += 'z'; });
  cmd.edge(whole, last);
  CapturedGraph graph = compile(cmd);
  graph.launch(queue).wait();
  graph.launch(queue).wait();
  CHECK(order == "bamzbamz");
  CHECK(values(y) == std::vector<unsigned>{1, 9, 3, 4});
}

TEST_CASE_FIXTURE(NestedFixture, "nested: the fence rethrows exceptions of inner callbacks") {
  CommandBuffer inner = recording({.label = "inner", .level = Level::Secondary});
  inner.host([] { throw std::runtime_error("from inside"); });
  inner.end();
  CommandBuffer cmd = recording();
  cmd.execute(inner, Nested);
  CapturedGraph graph = compile(cmd);
  CHECK_THROWS_WITH(graph.launch(queue).wait(), "from inside");
}

TEST_CASE_FIXTURE(NestedFixture, "nested: its commands keep the ordering of their command buffer") {
  CommandBuffer linear =
      recording({.label = "linear", .ordering = Ordering::Linear, .level = Level::Secondary});
  std::string order;
  for (const char c : {'1', '2', '3'}) linear.host([&order, c] { order += c; });
  linear.end();
  CommandBuffer cmd = recording();
  cmd.execute(linear, Nested);
  run(cmd);
  CHECK(order == "123");
}

TEST_CASE_FIXTURE(NestedFixture,
                  "nested: an empty secondary runs nothing, and wide bodies run completely") {
  CommandBuffer empty = recording({.label = "empty", .level = Level::Secondary});
  empty.end();
  CommandBuffer wide = recording({.label = "wide", .level = Level::Secondary});
  for (unsigned i = 0; i < kCount; ++i) wide.fill(x.slice(i, 1), i);
  wide.end();
  CommandBuffer cmd = recording();
  cmd.execute(empty, Nested);
  cmd.execute(wide, Nested);
  run(cmd);
  CHECK(values(x) ==
        generated<unsigned>(kCount, [](std::size_t i) { return static_cast<unsigned>(i); }));
}

TEST_CASE_FIXTURE(NestedFixture,
                  "nested: kMaxNesting levels run, change, print and end on a small stack") {
  constexpr std::uint32_t kLevels = Recorder::kMaxNesting;
  const auto y = pool->allocate<unsigned>(kLevels, "y");
  // Each level sets its own word of y.
  const auto step = [&](unsigned first) {
    CommandBuffer inner = recording({.label = "leaf", .level = Level::Secondary});
    inner.fill(y.slice(0, 1), first);
    inner.end();
    for (std::uint32_t level = 1; level < kLevels; ++level) {
      CommandBuffer outer = recording({.label = "level", .level = Level::Secondary});
      outer.fill(y.slice(level, 1), first + level);
      outer.execute(inner, Nested);
      outer.end();
      inner = std::move(outer);
    }
    CommandBuffer cmd = recording();
    cmd.execute(inner, Nested);
    return cmd;
  };
  const auto check = [&](CapturedGraph& graph, unsigned first) {
    graph.launch(queue).wait();
    CHECK(values(y) == generated<unsigned>(kLevels, [&](std::size_t level) {
            return first + static_cast<unsigned>(level);
          }));
  };
  const auto work = [&] {
    CommandBuffer one = step(10), other = step(1000);
    other.end();
    CapturedGraph graph = compile(one);
    check(graph, 10);
    const std::string text = graph.to_text(), dot = graph.to_dot();
    CHECK(text.find(std::string(2 * kLevels, ' ') + "label \"leaf\"") != std::string::npos);
    CHECK(text.size() < 500'000);
    CHECK(dot.size() < 500'000);
    static_cast<void>(graph.update(other));
    check(graph, 1000);
  };
  if (is_host())
    on_small_stack(work);
  else
    work();
}

}  // namespace reprise::test::nested_test
