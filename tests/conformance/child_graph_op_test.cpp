#include <reprise/child_graph_op.hpp>

#include "conformance/device_fixture.hpp"
#include "words.shaders.hpp"

namespace reprise::test::child_graph_op_test {
namespace {

struct ChildGraphFixture : DeviceFixture {
  GpuRef<unsigned> x = buffer(std::vector<unsigned>(64, 1), "x");
  // Adds `value` to x twice.
  CommandBuffer adds(unsigned value) {
    CommandBuffer secondary = recording({.label = "adds", .level = Level::Secondary});
    const Kernel add = kernel(shaders::conf_add);
    for (int i = 0; i < 2; ++i)
      secondary.dispatch(add, {.grid = 1, .block = 64}, read(x), write(x), value, 64u);
    return secondary;
  }
};

}  // namespace

TEST_CASE_FIXTURE(ChildGraphFixture,
                  "child graph op: one secondary in several primaries, one command in each") {
  CommandBuffer secondary = adds(3);
  secondary.end();
  const ChildGraphOp op(secondary);
  for (unsigned primary = 0; primary < 2; ++primary) {
    CommandBuffer cmd = recording();
    cmd.add(op);
    cmd.fill(x.slice(0, 32), 7u);
    cmd.add(std::make_shared<const ChildGraphOp>(op));
    CapturedGraph graph = compile(cmd);
    CHECK(graph.report().commands == 3);
    for (int replay = 0; replay < 2; ++replay) graph.launch(queue).wait();
  }
  std::vector<unsigned> expected(64, 7 + 6);
  for (std::size_t i = 32; i < 64; ++i) expected[i] = 1 + 4 * 12;
  CHECK(values(x) == expected);
}

TEST_CASE_FIXTURE(ChildGraphFixture,
                  "child graph op: it keeps the contents of the secondary at the time of add") {
  CommandBuffer secondary = adds(3);
  secondary.end();
  const ChildGraphOp op(secondary);
  CHECK(op.op_name() == "child_graph");
  CHECK(op.parameters() == "secondary adds");
  secondary.begin();
  secondary.fill(x, 0u);
  secondary.end();
  run([&](CommandBuffer& cmd) { cmd.add(op); });
  CHECK(values(x) == std::vector<unsigned>(64, 7));
}

TEST_CASE_FIXTURE(ChildGraphFixture,
                  "child graph op: a primary and an unfinished secondary are refused") {
  CommandBuffer primary = recording({.label = "first"});
  primary.end();
  check_refused(ErrorCode::InvalidArgument, {"child_graph", "first is a primary"},
                [&] { static_cast<void>(ChildGraphOp(primary)); });
  const CommandBuffer open = adds(1);
  check_refused(ErrorCode::InvalidState, {"child_graph", "adds", "end() it first"},
                [&] { static_cast<void>(ChildGraphOp(open)); });
  CHECK(open.command_count() == 2);  // the refusal changes nothing
}

}  // namespace reprise::test::child_graph_op_test
