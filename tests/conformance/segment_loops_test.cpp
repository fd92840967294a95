// Segments that are the body of a loop, and changes while replays of segments are queued.
#include <conditions.shaders.hpp>
#include <words.shaders.hpp>

#include <random>

#include "conformance/device_fixture.hpp"

namespace reprise::test::segment_loops_test {
namespace {

// A loop of 5 iterations, each of which adds a slot's value to x twice and counts down.
class LoopInSegments {
 public:
  explicit LoopInSegments(const DeviceFixture& f)
      : f_(f),
        x_(f.pool->allocate<unsigned>(64, "x")),
        other_(f.pool->allocate<unsigned>(64, "other")),
        counter_(f.pool->allocate<unsigned>(1, "counter")),
        go_(f.device.create_condition({.name = "go", .initial = 1})) {
    const auto y = f.pool->transient<unsigned>(64, "y");
    const Kernel add = f.kernel(shaders::conf_add);
    const DispatchDesc words{.grid = 2, .block = 32};
    CommandBuffer body =
        f.device.create_command_buffer({.label = "iteration", .level = Level::Secondary});
    body.begin();
    body.dispatch(add, words, read(x_), write(y), slot("step", 1u), 64u);
    body.dispatch(add, words, read(y), write(x_), 1u, 64u);
    body.dispatch(f.kernel(shaders::conf_count_down), {.grid = 1, .block = 1}, read_write(counter_),
                  go_);
    body.end();
    CommandBuffer cmd = f.recording({.label = "loop"});
    cmd.fill(x_, 0u);
    cmd.fill(counter_, 5u);
    cmd.execute_while(go_, body);
    graph_ = f.compile(cmd, Lowering::Persistent);
  }
  [[nodiscard]] CapturedGraph& graph() { return graph_; }
  [[nodiscard]] const GpuRef<unsigned>& x() const { return x_; }
  [[nodiscard]] const GpuRef<unsigned>& other() const { return other_; }
  void check(const GpuRef<unsigned>& result, unsigned expected) {
    graph_.launch(f_.queue).wait();
    CHECK(f_.values(result) == std::vector<unsigned>(64, expected));
    CHECK(graph_.loops()[0].iterations == 5);
  }

 private:
  const DeviceFixture& f_;
  const GpuRef<unsigned> x_, other_, counter_;
  const Condition go_;
  CapturedGraph graph_;
};

}  // namespace

TEST_CASE_FIXTURE(DeviceFixture, "segments: a loop's body has one, which follows changes") {
  if (device.info().limits.max_segment_blocks == 0) return;
  LoopInSegments loop(*this);
  CHECK(loop.graph().report().segments.segments == 2);  // the fills, and the adds of the body
  CHECK(loop.graph().report().segments.commands == 5);
  CHECK(loop.graph().to_text().find("the segment repeats while") != std::string::npos);
  for (int replay = 0; replay < 3; ++replay) loop.check(loop.x(), 10);
  loop.graph().scalar<unsigned>("step").set(7);
  loop.check(loop.x(), 40);
  CHECK(loop.graph().rebind(loop.x(), loop.other()).nodes != 0);
  loop.check(loop.other(), 40);
  // Queued replays keep the value that they were launched with.
  constexpr unsigned kQueued = 20;
  std::vector<Fence> fences;
  for (unsigned i = 1; i <= kQueued; ++i) {
    loop.graph().scalar<unsigned>("step").set(i);
    fences.push_back(loop.graph().launch(queue));
  }
  fences.back().wait();
  CHECK(values(loop.other())[0] == 5 * (kQueued + 1));
}

TEST_CASE_FIXTURE(DeviceFixture, "segments: loops in them count, restart and end at their limit") {
  if (device.info().limits.max_segment_blocks == 0) return;
  const auto x = pool->allocate<unsigned>(1 << 14, "x"), y = pool->allocate<unsigned>(1 << 14, "y");
  const auto inner_left = pool->allocate<unsigned>(1, "inner left"),
             outer_left = pool->allocate<unsigned>(1, "outer left");
  const Condition outer = device.create_condition({.name = "outer", .initial = 1}),
                  inner = device.create_condition({.name = "inner"}),
                  forever = device.create_condition({.name = "forever", .initial = 1});
  const DispatchDesc words{.grid = 64, .block = 256}, one{.grid = 1, .block = 1};
  const auto secondary = [&](const char* label, const auto& record) {
    CommandBuffer body = device.create_command_buffer({.label = label, .level = Level::Secondary});
    body.begin();
    record(body);
    body.end();
    return body;
  };
  const auto add_twice = [&](CommandBuffer& body) {
    body.dispatch(kernel(shaders::conf_add), words, read(x), write(y), 1u, 1u << 14);
    body.dispatch(kernel(shaders::conf_add), words, read(y), write(x), 1u, 1u << 14);
  };
  const CommandBuffer limited = secondary("limited", add_twice);
  const CommandBuffer innermost = secondary("inner", [&](CommandBuffer& body) {
    add_twice(body);
    body.dispatch(kernel(shaders::conf_count_down), one, read_write(inner_left), inner);
  });
  const CommandBuffer middle = secondary("outer", [&](CommandBuffer& body) {
    body.fill(inner_left, 3u);
    body.dispatch(kernel(shaders::conf_decide), one, read(inner_left), inner);
    body.execute_while(inner, innermost);
    body.dispatch(kernel(shaders::conf_count_down), one, read_write(outer_left), outer);
  });
  CommandBuffer cmd = recording();
  cmd.fill(x, 0u);
  cmd.fill(outer_left, 4u);
  cmd.execute_while(outer, middle);
  cmd.execute_while(forever, limited, {.max_iterations = 7});
  CapturedGraph graph = compile(cmd, Lowering::Persistent);
#if REPRISE_HAS_CUDA
  CHECK(graph.report().segments.relations >= 2);  // in the bodies
#endif
  for (int replay = 0; replay < 4; ++replay) {
    graph.launch(queue).wait();
    REQUIRE(values(x) == std::vector<unsigned>(1 << 14, 2 * (4 * 3 + 7)));
    const std::vector<LoopReport> loops = graph.loops();
    REQUIRE(loops.size() == 3);
    CHECK(loops[0].iterations == 4);
    CHECK(loops[1].iterations == 12);
    CHECK_FALSE(loops[1].reached_limit);
    CHECK(loops[2].iterations == 7);
    CHECK(loops[2].reached_limit);
  }
}

TEST_CASE_FIXTURE(DeviceFixture, "segments: queued replays keep what they were launched with") {
  if (device.info().limits.max_segment_blocks == 0) return;
  // Each replay appends the slot's value to a sum; a replay with a later value would change it.
  const auto sum = buffer(std::vector<unsigned>(1, 0), "sum"),
             other = buffer(std::vector<unsigned>(1, 0), "other");
  CommandBuffer cmd = recording();
  for (int i = 0; i < 30; ++i)
    cmd.dispatch(kernel(shaders::conf_add), {.grid = 1, .block = 1}, read(sum), write(sum),
                 slot("value", 0u), 1u);
  CapturedGraph graph = compile(cmd, Lowering::Persistent);
  const Queue queues[] = {queue, device.create_queue()};
  unsigned expected = 0, expected_of_other = 0, value = 0;
  std::mt19937 random(std::random_device{}());
  bool is_other = false;
  for (int i = 0; i < 300; ++i) {
    if (random() % 3 != 0) {
      value = static_cast<unsigned>(random());
      graph.scalar<unsigned>("value").set(value);
    }
    if (random() % 8 == 0) {
      is_other = !is_other;
      static_cast<void>(graph.rebind(sum, is_other ? other : sum));
    }
    (is_other ? expected_of_other : expected) += 30 * value;
    static_cast<void>(graph.launch(queues[random() % 2]));
  }
  device.wait_idle();
  CHECK(values(sum)[0] == expected);
  CHECK(values(other)[0] == expected_of_other);
}

}  // namespace reprise::test::segment_loops_test
