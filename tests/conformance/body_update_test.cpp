// Updates of graphs with bodies: loops, branches, nested command buffers.
#include <functional>
#include <vector>

#include "conditions.shaders.hpp"
#include "conformance/device_fixture.hpp"

namespace reprise::test::body_update_test {
namespace {

constexpr unsigned kCount = 300;

struct BodyUpdateFixture : DeviceFixture {
  GpuRef<unsigned> x = buffer(std::vector<unsigned>(kCount, 0), "x"),
                   y = buffer(std::vector<unsigned>(kCount, 0), "y");
  HostRef<unsigned> decision = pool->host<unsigned>(2, "decision");
  Condition go = device.create_condition({.name = "go", .initial = 1});
  Kernel increase = kernel(shaders::conf_increase), step = kernel(shaders::conf_step);

  // A body that adds `value` to x, `times` times.
  [[nodiscard]] CommandBuffer increasing(unsigned value, unsigned times = 1) const {
    CommandBuffer body = recording({.label = "increasing", .level = Level::Secondary});
    for (unsigned i = 0; i < times; ++i) {
      body.dispatch(kernel(shaders::conf_increase),
                    DispatchDesc{.grid = ceil_div(kCount, 128), .block = 128}, read_write(x), value,
                    kCount);
    }
    body.end();
    return body;
  }

  // Adds `value` to x, and goes on until x reaches `end`.
  [[nodiscard]] CommandBuffer loop_body(unsigned value, unsigned end) const {
    CommandBuffer body = recording({.label = "body", .level = Level::Secondary});
    const DispatchDesc desc{.grid = ceil_div(kCount, 128), .block = 128};
    body.dispatch(increase, desc, read_write(x), value - 1, kCount);
    body.dispatch(step, desc, read_write(x), end, kCount, go);
    body.end();
    return body;
  }
  // Adds `value` to x in each iteration until x reaches `end`.
  [[nodiscard]] CommandBuffer loop(unsigned value, unsigned end) const {
    CommandBuffer cmd = recording();
    cmd.fill(x, 0u);
    cmd.execute_while(go, loop_body(value, end));
    cmd.end();
    return cmd;
  }
  [[nodiscard]] CommandBuffer nested_body(const GpuRef<unsigned>& on, unsigned value) const {
    CommandBuffer inner = recording({.label = "inner", .level = Level::Secondary});
    inner.fill(on, value);
    inner.end();
    return inner;
  }
  [[nodiscard]] CommandBuffer nested(const GpuRef<unsigned>& on, unsigned value) const {
    CommandBuffer cmd = recording();
    cmd.execute(nested_body(on, value), Nested);
    cmd.end();
    return cmd;
  }
};

}  // namespace

TEST_CASE_FIXTURE(
    BodyUpdateFixture,
    "body update: a graph with a loop is updated in place and its conditions keep working") {
  CommandBuffer first = loop(3, 10), second = loop(5, 40);
  CapturedGraph graph = compile(first);
  const Fence queued = graph.launch(queue);
  const UpdateReport report = graph.update(second);
  INFO("reason: ", report.reason);
  CHECK(report.method == UpdateMethod::WholeGraph);
  queued.wait();
  for (int replay = 0; replay < 2; ++replay) {
    graph.launch(queue).wait();
    CHECK(values(x) == std::vector<unsigned>(kCount, 40));
    CHECK(graph.loops()[0].iterations == 8);
  }
  CHECK(graph.exec_update(first).done());
  graph.launch(queue).wait();
  CHECK(values(x) == std::vector<unsigned>(kCount, 12));
  CHECK(graph.loops()[0].iterations == 4);
}

TEST_CASE_FIXTURE(BodyUpdateFixture, "body update: an identical recording changes no node") {
  const auto limited = [&](std::uint64_t limit) {
    CommandBuffer cmd = recording();
    cmd.fill(x, 0u);
    cmd.execute_while(go, loop_body(3, 10), {.max_iterations = limit});
    cmd.execute(nested_body(y, 5), Nested);
    cmd.end();
    return cmd;
  };
  CommandBuffer first = limited(2), same = limited(2), longer = limited(3);
  CapturedGraph graph = compile(first);
  for (const CommandBuffer* again : {&same, &first}) {
    CHECK(graph.update(*again).method == UpdateMethod::Unchanged);
    CHECK(graph.exec_update(*again).method == UpdateMethod::Unchanged);
    graph.launch(queue).wait();
    CHECK(values(x) == std::vector<unsigned>(kCount, 6));
    CHECK(values(y) == std::vector<unsigned>(kCount, 5));
  }
  CHECK(graph.update(longer).done());
  graph.launch(queue).wait();
  CHECK(values(x) == std::vector<unsigned>(kCount, 9));
}

TEST_CASE_FIXTURE(BodyUpdateFixture,
                  "body update: initial values of conditions come from the new recording") {
  const auto recorded = [&](unsigned initial) {
    const Condition begin = device.create_condition({.name = "begin", .initial = initial});
    CommandBuffer cmd = recording();
    cmd.execute_if(begin, increasing(7));
    cmd.end();
    return cmd;
  };
  CommandBuffer off = recorded(0), on = recorded(1);
  CapturedGraph graph = compile(off);
  graph.launch(queue).wait();
  CHECK(values(x) == std::vector<unsigned>(kCount, 0));
  CHECK(graph.exec_update(on).done());
  for (unsigned replay = 1; replay <= 2; ++replay) {
    graph.launch(queue).wait();
    CHECK(values(x) == std::vector<unsigned>(kCount, 7 * replay));
  }
  CHECK(graph.exec_update(off).done());
  graph.launch(queue).wait();
  CHECK(values(x) == std::vector<unsigned>(kCount, 14));
}

TEST_CASE_FIXTURE(BodyUpdateFixture, "body update: an update reaches a nested conditional") {
  const auto recorded = [&](unsigned value, unsigned end) {
    const Condition odd = device.create_condition({.name = "odd"});
    CommandBuffer body = recording({.label = "body", .level = Level::Secondary});
    body.dispatch(kernel(shaders::conf_is_odd), DispatchDesc{.grid = 1, .block = 1}, read(x), odd);
    body.execute_if(odd, increasing(value));
    body.dispatch(kernel(shaders::conf_step),
                  DispatchDesc{.grid = ceil_div(kCount, 128), .block = 128}, read_write(x), end,
                  kCount, go);
    body.end();
    CommandBuffer cmd = recording();
    cmd.fill(x, 1u);
    cmd.execute_while(go, body);
    cmd.end();
    return cmd;
  };
  CommandBuffer first = recorded(10, 20), second = recorded(4, 30);
  CapturedGraph graph = compile(first);
  graph.launch(queue).wait();
  CHECK(values(x) == std::vector<unsigned>(kCount, 24));
  CHECK(graph.loops()[0].iterations == 3);
  CHECK(graph.exec_update(second).done());
  graph.launch(queue).wait();
  CHECK(values(x) == std::vector<unsigned>(kCount, 30));
  CHECK(graph.loops()[0].iterations == 9);
}

TEST_CASE_FIXTURE(BodyUpdateFixture,
                  "body update: a different body, branch or condition needs a new executable, "
                  "which the report states") {
  const auto recorded = [&](const std::function<void(CommandBuffer&)>& record) {
    // Linear: the edges are equal whatever the accesses of the commands.
    CommandBuffer cmd = recording({.ordering = Ordering::Linear});
    record(cmd);
    cmd.end();
    return cmd;
  };
  const Condition a = device.create_condition({.name = "a", .initial = 1}),
                  b = device.create_condition({.name = "b"});
  const auto decided = [&](const Condition& one, const Condition& other) {
    return recorded([&](CommandBuffer& cmd) {
      cmd.dispatch(kernel(shaders::conf_decide), DispatchDesc{.grid = 1, .block = 1},
                   read(decision.slice(0, 1)), a);
      cmd.dispatch(kernel(shaders::conf_decide), DispatchDesc{.grid = 1, .block = 1},
                   read(decision.slice(1, 1)), b);
      cmd.execute_if(one, increasing(1));
      cmd.execute_if(other, increasing(100));
    });
  };
  CommandBuffer first = decided(a, b), swapped = decided(b, a);
  CommandBuffer longer = recorded([&](CommandBuffer& cmd) { cmd.execute_if(a, increasing(1, 2)); });
  CommandBuffer shorter = recorded([&](CommandBuffer& cmd) { cmd.execute_if(a, increasing(1)); });
  CommandBuffer branched =
      recorded([&](CommandBuffer& cmd) { cmd.execute_if(a, increasing(1), increasing(2)); });
  const auto refused = [&](CommandBuffer& from, CommandBuffer& to, GraphExecUpdateOutcome outcome) {
    CapturedGraph graph = compile(from);
    const UpdateReport in_place = graph.exec_update(to);
    CHECK(to_string(in_place.outcome) == to_string(outcome));
    CHECK_FALSE(in_place.done());
    const UpdateReport report = graph.update(to);
    CHECK(report.method == UpdateMethod::Reinstantiated);
    CHECK(to_string(report.outcome) == to_string(outcome));
    CHECK_FALSE(report.reason.empty());
    return graph;
  };
  static_cast<void>(refused(shorter, longer, GraphExecUpdateOutcome::TopologyChanged));
  static_cast<void>(refused(shorter, branched, GraphExecUpdateOutcome::NotSupported));
  CapturedGraph graph = refused(first, swapped, GraphExecUpdateOutcome::NotSupported);
  decision[0] = 1;
  decision[1] = 0;
  graph.launch(queue).wait();
  CHECK(values(x) == std::vector<unsigned>(kCount, 100));
}

TEST_CASE_FIXTURE(BodyUpdateFixture,
                  "body update: an update reaches the body of a nested command buffer in place") {
  CommandBuffer first = nested(x, 1), second = nested(x, 2), third = nested(y, 3);
  CapturedGraph graph = compile(first);
  graph.launch(queue).wait();
  CHECK(values(x) == std::vector<unsigned>(kCount, 1));
  CHECK(graph.update(second, {.last = UpdateMethod::WholeGraph}).done());
  graph.launch(queue).wait();
  CHECK(values(x) == std::vector<unsigned>(kCount, 2));
  CHECK(graph.update(third, {.last = UpdateMethod::WholeGraph}).done());
  graph.launch(queue).wait();
  CHECK(values(x) == std::vector<unsigned>(kCount, 2));
  CHECK(values(y) == std::vector<unsigned>(kCount, 3));
}

}  // namespace reprise::test::body_update_test
