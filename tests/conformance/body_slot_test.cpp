// Scalar slots, rebinding and enabling of commands in the bodies of a graph (loops, branches,
// nested command buffers): they apply to bodies as they do to the graph itself.
#include <vector>

#include "conditions.shaders.hpp"
#include "conformance/device_fixture.hpp"
#include "words.shaders.hpp"

namespace reprise::test::body_slot_test {
namespace {

constexpr unsigned kCount = 200;
constexpr DispatchDesc kWords{.grid = 1, .block = kCount};

struct BodySlotFixture : DeviceFixture {
  GpuRef<unsigned> x = buffer(std::vector<unsigned>(kCount, 0), "x"),
                   y = buffer(std::vector<unsigned>(kCount, 0), "y");
  Condition go = device.create_condition({.name = "go", .initial = 1});

  template <class Record>
  [[nodiscard]] CommandBuffer secondary(std::string_view label, const Record& record) const {
    CommandBuffer made = recording({.label = label, .level = Level::Secondary});
    record(made);
    made.end();
    return made;
  }
  void check(const GpuRef<unsigned>& of, unsigned expected) const {
    CHECK(values(of) == std::vector<unsigned>(kCount, expected));
  }
};

}  // namespace

TEST_CASE_FIXTURE(BodySlotFixture,
                  "body slot: one scalar slot covers nested command buffers, loops, branches and "
                  "the outer graph") {
  const Condition yes = device.create_condition({.name = "yes", .initial = 1});
  const CommandBuffer adding = secondary("adding", [&](CommandBuffer& c) {
    c.dispatch(kernel(shaders::conf_increase), kWords, read_write(x), slot("value", 1u), kCount);
  });
  const CommandBuffer round =
      secondary("round", [&](CommandBuffer& c) { c.execute(adding, Nested); });
  CommandBuffer cmd = recording();
  cmd.fill(x, 0u);
  cmd.execute(adding, Nested);
  cmd.execute(adding, Nested);
  cmd.execute_while(go, round, {.max_iterations = 5});
  cmd.execute_if(yes, adding);
  cmd.dispatch(kernel(shaders::conf_increase), kWords, read_write(x), slot("value", 1u), kCount);
  CapturedGraph graph = compile(cmd);
  graph.launch(queue).wait();
  check(x, 9);
  auto value = graph.scalar<unsigned>("value");
  // The count includes commands of the graph whose bodies use the slot.
  CHECK(value.set(10) == 5);
  graph.launch(queue).wait();
  check(x, 90);
  CHECK(value.set(10) == 0);
  CHECK(value.set(3) == 5);
  for (int replay = 0; replay < 2; ++replay) graph.launch(queue).wait();
  check(x, 27);
}

TEST_CASE_FIXTURE(
    BodySlotFixture,
    "body slot: a kernel with a scalar and a condition is updated inside and outside a loop") {
  const Condition first = device.create_condition({.name = "first"});
  const CommandBuffer round = secondary("round", [&](CommandBuffer& c) {
    c.dispatch(kernel(shaders::conf_step), kWords, read_write(x), slot("end", 10u), kCount, go);
  });
  const CommandBuffer then = secondary("then", [&](CommandBuffer& c) { c.fill(y, 5u); });
  CommandBuffer cmd = recording();
  cmd.fill(x, 0u);
  cmd.execute_while(go, round);
  cmd.fill(y, 0u);
  cmd.dispatch(kernel(shaders::conf_step), kWords, read_write(x), slot("limit", 20u), kCount,
               first);
  cmd.execute_if(first, then);
  CapturedGraph graph = compile(cmd);
  graph.launch(queue).wait();
  check(x, 11);
  check(y, 5);
  CHECK(graph.loops()[0].iterations == 10);
  graph.scalar<unsigned>("end").set(15);
  graph.scalar<unsigned>("limit").set(3);
  graph.launch(queue).wait();
  check(x, 16);
  check(y, 0);
  CHECK(graph.loops()[0].iterations == 15);
}

TEST_CASE_FIXTURE(BodySlotFixture, "body slot: rebind reaches the nodes of bodies") {
  const Condition some = device.create_condition({.name = "some", .initial = 1});
  const std::vector<unsigned> nines(kCount, 9);
  const CommandBuffer copying = secondary("copying", [&](CommandBuffer& c) {
    c.copy(snapshot(nines), x);
    c.dispatch(kernel(shaders::conf_increase), kWords, read_write(x), 1u, kCount);
  });
  const CommandBuffer round = secondary("round", [&](CommandBuffer& c) {
    c.dispatch(kernel(shaders::conf_increase), kWords, read_write(x), 2u, kCount);
    c.fill(x.slice(0, 1), 7u);
  });
  CommandBuffer cmd = recording();
  cmd.execute(copying, Nested);
  cmd.execute_while(some, round, {.max_iterations = 4});
  CapturedGraph graph = compile(cmd);
  const auto expected = [] {
    std::vector<unsigned> all(kCount, 18);
    all[0] = 7;
    return all;
  }();
  graph.launch(queue).wait();
  CHECK(values(x) == expected);
  const BufferBinding binding{x, y};
  const UpdateReport report = graph.rebind({&binding, 1}, {.last = UpdateMethod::Nodes});
  CHECK(report.done());
  CHECK(report.method == UpdateMethod::Nodes);
  CHECK(report.nodes == 2);
  graph.launch(queue).wait();
  CHECK(values(y) == expected);
}

TEST_CASE_FIXTURE(BodySlotFixture,
                  "body slot: a command is disabled and enabled in every body that contains it") {
  CommandRef adding_one, setting, called;
  const CommandBuffer adding = secondary("adding", [&](CommandBuffer& c) {
    adding_one = c.dispatch(kernel(shaders::conf_increase), kWords, read_write(x), 1u, kCount);
    c.dispatch(kernel(shaders::conf_increase), kWords, read_write(x), 100u, kCount);
  });
  const CommandBuffer round = secondary("round", [&](CommandBuffer& c) {
    c.execute(adding, Nested);
    setting = c.fill(y, 4u);
  });
  CommandBuffer cmd = recording();
  cmd.fill(x, 0u);
  cmd.fill(y, 0u);
  cmd.execute(adding, Nested);
  cmd.execute_while(go, round, {.max_iterations = 3});
  CapturedGraph graph = compile(cmd);
  graph.launch(queue).wait();
  check(x, 404);
  check(y, 4);
  CHECK(graph.is_enabled(adding_one));
  graph.disable(adding_one);
  graph.disable(setting);
  CHECK_FALSE(graph.is_enabled(adding_one));
  graph.launch(queue).wait();
  check(x, 400);
  check(y, 0);
  graph.enable(adding_one);
  graph.launch(queue).wait();
  check(x, 404);
  check(y, 0);
  graph.enable(setting);
  graph.launch(queue).wait();
  check(y, 4);
}

TEST_CASE_FIXTURE(BodySlotFixture, "body slot: refused changes name the command") {
  const Kernel increase = kernel(shaders::conf_increase);
  const CommandBuffer one = secondary("one", [&](CommandBuffer& c) {
    c.dispatch(increase, kWords, read_write(x), slot("value", 1u), kCount);
  });
  CommandBuffer cmd = recording();
  cmd.execute(one, Nested);
  cmd.dispatch(increase, kWords, read_write(x), slot("value", 2u), kCount);
  check_refused(ErrorCode::InvalidArgument,
                {"slot \"value\"", "different initial value", "nested one"},
                [&] { static_cast<void>(compile(cmd)); });

  CommandRef called;
  const CommandBuffer calling =
      secondary("calling", [&](CommandBuffer& c) { called = c.host([] {}); });
  CommandBuffer other = recording();
  other.execute(calling, Nested);
  CapturedGraph graph = compile(other);
  check_refused(ErrorCode::Unsupported, {"disable", "host"}, [&] { graph.disable(called); });
  CommandRef stranger;
  const CommandBuffer elsewhere =
      secondary("elsewhere", [&](CommandBuffer& c) { stranger = c.fill(x, 1u); });
  check_refused(ErrorCode::InvalidArgument, {"disable", "nor a body that it runs"},
                [&] { graph.disable(stranger); });
}

}  // namespace reprise::test::body_slot_test
