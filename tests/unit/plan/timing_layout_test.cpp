// Numbers of all nodes of a plan, those of its bodies included, and places for their times.
#include <doctest/doctest.h>

#include "lowering/lowered_graph.hpp"
#include "plan/timing_layout.hpp"
#include "record/condition_core.hpp"
#include "unit/record/record_fixture.hpp"

using namespace reprise;
using namespace reprise::detail;
using namespace reprise::test;

namespace {

struct TimeSlotsFixture : RecordFixture {
  GpuRef<std::uint32_t> x = buffer<std::uint32_t>(64, "x");
  Condition go = make_condition(status, {.name = "go", .initial = 1});

  // As many fills of x as `fills`, then what `more` records.
  template <class More>
  CommandBuffer secondary(std::uint32_t fills, const More& more) {
    CommandBuffer made = recording({.label = "secondary", .level = Level::Secondary});
    for (std::uint32_t i = 0; i < fills; ++i) made.fill(x, i);
    more(made);
    made.end();
    return made;
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

TEST_CASE("time slots: without bodies each node has its own") {
  TimeSlotsFixture f;
  const TimingLayout slots = timing_layout(f.plan([&](CommandBuffer& cmd) {
    cmd.fill(f.x, 1u);
    cmd.fill(f.x, 2u);
  }));
  CHECK(slots.own_nodes == 2);
  CHECK(slots.nodes == 2);
  CHECK(slots.slots == 2);
  CHECK(slots.bodies.empty());
}

TEST_CASE(
    "time slots: bodies stand behind the plan's nodes, those of one node together, and what they "
    "hold behind all of them") {
  TimeSlotsFixture f;
  const CommandBuffer inner = f.secondary(2);
  const CommandBuffer nested = f.secondary(1, [&](CommandBuffer& c) { c.execute(inner, Nested); });
  const CommandBuffer then = f.secondary(3), other = f.secondary(1);
  const Plan plan = f.plan([&](CommandBuffer& cmd) {
    cmd.execute(nested, Nested);
    cmd.execute_if(f.go, then, other);
  });
  const TimingLayout slots = timing_layout(plan);
  CHECK(slots.own_nodes == 2);
  CHECK(slots.nodes == 2 + 2 + 3 + 1 + 2);
  REQUIRE(slots.bodies.size() == 4);
  using Kind = BodyPlace::Kind;
  const auto is = [&](std::uint32_t body, Kind kind, std::uint32_t owner, std::uint32_t parent,
                      std::uint32_t branch, std::uint32_t first) {
    const BodyPlace& place = slots.bodies[body];
    return place.kind == kind && place.owner == owner && place.parent == parent &&
           place.branch == branch && place.first_node == first && place.kept == 1;
  };
  CHECK(is(0, Kind::Nested, kNone, 0, 0, 2));
  CHECK(is(1, Kind::Then, kNone, 1, 0, 4));
  CHECK(is(2, Kind::Else, kNone, 1, 1, 7));
  CHECK(is(3, Kind::Nested, 0, 3, 0, 8));
  CHECK(slots.first_body(0) == 0);
  CHECK(slots.first_body(1) == 1);
  CHECK(slots.first_body(3) == 3);
  // One for each node, and one for each body that counts its rounds.
  CHECK(slots.slots == slots.nodes + slots.bodies.size());
  CHECK(slots.bodies[1].slot(2, 0) == slots.bodies[1].first_slot + 3);
  const auto plans = plans_of_bodies(plan);
  REQUIRE(plans.size() == 4);
  CHECK(plans[1] == plan.bodies[1].get());
  CHECK(plans[3] == plan.bodies[0]->bodies[0].get());
}

TEST_CASE("time slots: a loop has as many rounds as it may take, within a bound that loops share") {
  TimeSlotsFixture f;
  const CommandBuffer small = f.secondary(1), large = f.secondary(100);
  const CommandBuffer outer = f.secondary(
      1, [&](CommandBuffer& c) { c.execute_while(f.go, small, {.max_iterations = 3}); });
  const auto kept = [&](const CommandBuffer& body, std::uint64_t limit) {
    std::vector<std::uint32_t> rounds;
    const Plan plan = f.plan(
        [&](CommandBuffer& cmd) { cmd.execute_while(f.go, body, {.max_iterations = limit}); });
    for (const BodyPlace& place : timing_layout(plan).bodies) rounds.push_back(place.kept);
    return rounds;
  };
  CHECK(kept(small, 7) == std::vector<std::uint32_t>{7});
  CHECK(kept(small, 1'000'000) == std::vector<std::uint32_t>{TimingLayout::kMaxIterations});
  CHECK(kept(large, 1'000'000) == std::vector<std::uint32_t>{TimingLayout::kMaxSlots / 100});
  CHECK(kept(outer, 5) == std::vector<std::uint32_t>{5, 15});
}
