// Updates of graphs that run whole recordings.
#include "conditions.shaders.hpp"
#include "conformance/device_fixture.hpp"

using namespace reprise;
using namespace reprise::test;

namespace {

constexpr unsigned kCount = 300;

struct BodyUpdateFixture : DeviceFixture {
  GpuRef<unsigned> x = buffer(std::vector<unsigned>(kCount, 0), "x"), y = buffer(std::vector<unsigned>(kCount, 0), "y");
  Condition go = device.create_condition({.name = "go", .initial = 1});

  // x goes up by `value` in each iteration, until it has reached `end`.
  [[nodiscard]] CommandBuffer loop(unsigned value, unsigned end) const {
    CommandBuffer body = recording({.label = "body", .level = Level::Secondary});
    const DispatchDesc desc{.grid = blocks(kCount, 128), .block = 128};
    body.dispatch(kernel(shaders::conf_increase), desc, read_write(x), value - 1, kCount);
    body.dispatch(kernel(shaders::conf_step), desc, read_write(x), end, kCount, go);
    body.end();
    CommandBuffer cmd = recording();
    cmd.fill(x, 0u);
    cmd.execute_while(go, body);
    cmd.end();
    return cmd;
  }
  [[nodiscard]] CommandBuffer nested(const GpuRef<unsigned>& on, unsigned value) const {
    CommandBuffer inner = recording({.label = "inner", .level = Level::Secondary});
    inner.fill(on, value);
    inner.end();
    CommandBuffer cmd = recording();
    cmd.execute(inner, Nested);
    cmd.end();
    return cmd;
  }
};

}  // namespace

TEST_CASE_FIXTURE(BodyUpdateFixture, "body update: a graph with a loop takes another recording, and its conditions go on working") {
  CommandBuffer first = loop(3, 10), second = loop(5, 40);
  CapturedGraph graph = compile(first);
  graph.launch(queue).wait();
  CHECK(values(x) == std::vector<unsigned>(kCount, 12));
  CHECK(graph.loops()[0].iterations == 4);
  const UpdateReport report = graph.update(second);
  // The handles of conditions belong to one graph of CUDA's: no executable takes those of another.
  CHECK(report.rung == (is_host() ? UpdateRung::WholeGraph : UpdateRung::Reinstantiated));
  for (int replay = 0; replay < 2; ++replay) {
    graph.launch(queue).wait();
    CHECK(values(x) == std::vector<unsigned>(kCount, 40));
    CHECK(graph.loops()[0].iterations == 8);
  }
}

TEST_CASE_FIXTURE(BodyUpdateFixture, "body update: in place a GPU refuses a graph with a loop, which stays as it was") {
  CommandBuffer first = loop(3, 10), second = loop(5, 40);
  CapturedGraph graph = compile(first);
  const UpdateReport report = graph.exec_update(second);
  const bool is_taken = is_host();
  CHECK(report.outcome == (is_taken ? GraphExecUpdateOutcome::Success : GraphExecUpdateOutcome::NotSupported));
  graph.launch(queue).wait();
  CHECK(values(x) == std::vector<unsigned>(kCount, is_taken ? 40 : 12));
}

TEST_CASE_FIXTURE(BodyUpdateFixture, "body update: another recording reaches what a nested command buffer runs, in place") {
  CommandBuffer first = nested(x, 1), second = nested(x, 2), third = nested(y, 3);
  CapturedGraph graph = compile(first);
  graph.launch(queue).wait();
  CHECK(values(x) == std::vector<unsigned>(kCount, 1));
  CHECK(graph.update(second, {.last = UpdateRung::WholeGraph}).done());
  graph.launch(queue).wait();
  CHECK(values(x) == std::vector<unsigned>(kCount, 2));
  CHECK(graph.update(third, {.last = UpdateRung::WholeGraph}).done());
  graph.launch(queue).wait();
  CHECK(values(x) == std::vector<unsigned>(kCount, 2));
  CHECK(values(y) == std::vector<unsigned>(kCount, 3));
}
