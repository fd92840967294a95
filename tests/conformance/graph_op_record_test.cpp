// Ops that satisfy the GraphOpRecord concept without a base class.
#include <reprise/graph_op.hpp>

#include "conformance/device_fixture.hpp"
#include "words.shaders.hpp"

namespace reprise::test::graph_op_record_test {
namespace {

// y = x + amount, through a workspace.
struct Shift {
  Kernel add;
  GpuRef<unsigned> x, y;
  unsigned amount = 0;

  [[nodiscard]] std::string_view op_name() const { return "shift"; }
  [[nodiscard]] std::string parameters() const { return "amount " + std::to_string(amount); }
  void declare(GraphOpDeclaration& declaration) const {
    declaration.use(read(x));
    declaration.use(write(y));
  }
  void record(GraphRecordCtx& ctx) const {
    const auto n = static_cast<unsigned>(x.size());
    ctx.dispatch(add, {.grid = ceil_div(n, 64), .block = 64}, read(x), write(y), amount, n);
  }
};

// The smallest valid op.
struct EmptyOp {
  [[nodiscard]] std::string_view op_name() const { return "nothing"; }
  void declare(GraphOpDeclaration&) const {}
  void record(GraphRecordCtx&) const {}
};

struct NoName {
  void declare(GraphOpDeclaration&) const {}
  void record(GraphRecordCtx&) const {}
};

static_assert(GraphOpRecord<Shift> && GraphOpRecord<EmptyOp> && !GraphOpRecord<NoName> &&
              !GraphOpRecord<int>);

}  // namespace

TEST_CASE_FIXTURE(DeviceFixture,
                  "graph op record: a value with declare and record is an op like any other") {
  const auto x = buffer(std::vector<unsigned>(100, 5), "x");
  const auto y = pool->allocate<unsigned>(100, "y"), z = pool->allocate<unsigned>(100, "z");
  CommandBuffer cmd = recording();
  cmd.add(Shift{kernel(shaders::conf_add), x, y, 7});
  cmd.copy(y, z);
  CapturedGraph graph = compile(cmd);
  const std::string plan = graph.to_text();
  CHECK(plan.find("shift") != std::string::npos);
  CHECK(plan.find("amount 7") != std::string::npos);
  CHECK(graph.report().needed_edges == 1);
  for (int replay = 0; replay < 2; ++replay) graph.launch(queue).wait();
  CHECK(values(z) == std::vector<unsigned>(100, 12));
}

TEST_CASE_FIXTURE(
    DeviceFixture,
    "graph op record: declared accesses are checked like arguments of Recorder methods") {
  CommandBuffer cmd = recording();
  check_refused(ErrorCode::NotInitialized, {"shift"}, [&] {
    cmd.add(Shift{kernel(shaders::conf_add), {}, {}, 1});
  });
  CHECK(cmd.command_count() == 0);
}

}  // namespace reprise::test::graph_op_record_test
