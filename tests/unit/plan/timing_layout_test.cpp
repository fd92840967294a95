// Numbers and time slots of all nodes of a plan, including those of its bodies.
#include <doctest/doctest.h>

#include "lowering/lowered_graph.hpp"
#include "plan/timing_layout.hpp"
#include "record/condition_core.hpp"
#include "unit/record/record_fixture.hpp"

using namespace reprise;
using namespace reprise::detail;
using namespace reprise::test;

namespace {

struct TimingLayoutFixture : RecordFixture {
  GpuRef<std::uint32_t> x = buffer<std::uint32_t>(64, "x");
  Condition go = make_condition(status, {.name = "go", .initial = 1});

  // `fills` fills of x, then the commands that `more` records.
  template <class More>
  CommandBuffer secondary(std::uint32_t fills, const More& more) {
    CommandBuffer commands = recording({.label = "secondary", .level = Level::Secondary});
    for (std::uint32_t i = 0; i < fills; ++i) commands.fill(x, i);
    more(commands);
    commands.end();
    return commands;
  }
  CommandBuffer secondary(std::uint32_t fills) {
    return secondary(fills, [](CommandBuffer&) {});
  }
  static Plan plan_of(const std::shared_ptr<const Recording>& recording) {
    std::vector<std::shared_ptr<const Plan>> bodies;
    for (const auto& body : recording->bodies)
      bodies.push_back(std::make_shared<const Plan>(plan_of(body)));
    DependencyGraph dependencies = build_dependencies(*recording);
    LoweredGraph lowered = build_lowered_graph(dependencies, Lowering::Faithful);
    return freeze_plan(recording->label, recording, std::move(dependencies), std::move(lowered), {},
                       std::move(bodies));
  }
  template <class Record>
  Plan plan(const Record& record) {
    CommandBuffer cmd = recording({.label = "graph"});
    record(cmd);
    return plan_of(frozen(cmd));
  }
};

}  // namespace

TEST_CASE("timing layout: without bodies each node has its own slot") {
  TimingLayoutFixture f;
  const TimingLayout layout = timing_layout(f.plan([&](CommandBuffer& cmd) {
    cmd.fill(f.x, 1u);
    cmd.fill(f.x, 2u);
  }));
  CHECK(layout.own_nodes == 2);
  CHECK(layout.nodes == 2);
  CHECK(layout.slots == 2);
  CHECK(layout.bodies.empty());
}

TEST_CASE(
    "timing layout: bodies follow the plan's nodes, grouped by node, and nested bodies follow "
    "them") {
  TimingLayoutFixture f;
  const CommandBuffer inner = f.secondary(2);
  const CommandBuffer nested = f.secondary(1, [&](CommandBuffer& c) { c.execute(inner, Nested); });
  const CommandBuffer then = f.secondary(3), other = f.secondary(1);
  const Plan plan = f.plan([&](CommandBuffer& cmd) {
    cmd.execute(nested, Nested);
    cmd.execute_if(f.go, then, other);
  });
  const TimingLayout layout = timing_layout(plan);
  CHECK(layout.own_nodes == 2);
  CHECK(layout.nodes == 2 + 2 + 3 + 1 + 2);
  REQUIRE(layout.bodies.size() == 4);
  using Kind = BodyLayout::Kind;
  const auto is = [&](std::uint32_t body, Kind kind, std::uint32_t owner, std::uint32_t parent,
                      std::uint32_t branch, std::uint32_t first) {
    const BodyLayout& place = layout.bodies[body];
    return place.kind == kind && place.owner == owner && place.parent == parent &&
           place.branch == branch && place.first_node == first && place.kept == 1;
  };
  CHECK(is(0, Kind::Nested, kNone, 0, 0, 2));
  CHECK(is(1, Kind::Then, kNone, 1, 0, 4));
  CHECK(is(2, Kind::Else, kNone, 1, 1, 7));
  CHECK(is(3, Kind::Nested, 0, 3, 0, 8));
  CHECK(layout.first_body(0) == 0);
  CHECK(layout.first_body(1) == 1);
  CHECK(layout.first_body(3) == 3);
  // One slot per node, and one per body for its iteration count.
  CHECK(layout.slots == layout.nodes + layout.bodies.size());
  CHECK(layout.bodies[1].slot(2, 0) == layout.bodies[1].first_slot + 3);
  const auto plans = body_plans(plan);
  REQUIRE(plans.size() == 4);
  CHECK(plans[1] == plan.bodies[1].get());
  CHECK(plans[3] == plan.bodies[0]->bodies[0].get());
}

TEST_CASE(
    "timing layout: a loop has one slot per possible iteration, within a limit that loops share") {
  TimingLayoutFixture f;
  const CommandBuffer small = f.secondary(1), large = f.secondary(100);
  const CommandBuffer outer = f.secondary(
      1, [&](CommandBuffer& c) { c.execute_while(f.go, small, {.max_iterations = 3}); });
  const auto timed_iterations = [&](const CommandBuffer& body, std::uint64_t limit) {
    std::vector<std::uint32_t> iterations;
    const Plan plan = f.plan(
        [&](CommandBuffer& cmd) { cmd.execute_while(f.go, body, {.max_iterations = limit}); });
    for (const BodyLayout& place : timing_layout(plan).bodies) iterations.push_back(place.kept);
    return iterations;
  };
  CHECK(timed_iterations(small, 7) == std::vector<std::uint32_t>{7});
  CHECK(timed_iterations(small, 1'000'000) ==
        std::vector<std::uint32_t>{TimingLayout::kMaxIterations});
  CHECK(timed_iterations(large, 1'000'000) ==
        std::vector<std::uint32_t>{TimingLayout::kMaxSlots / 100});
  CHECK(timed_iterations(outer, 5) == std::vector<std::uint32_t>{5, 15});
}
