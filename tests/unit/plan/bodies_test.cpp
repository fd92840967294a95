// Plans of commands with bodies: their hash, text and loops.
#include <doctest/doctest.h>

#include <functional>
#include <set>

#include "lowering/lowered_graph.hpp"
#include "plan/loops.hpp"
#include "plan/plan.hpp"
#include "plan/plan_difference.hpp"
#include "record/condition_core.hpp"
#include "unit/record/record_fixture.hpp"

using namespace reprise;
using namespace reprise::detail;
using namespace reprise::test;

namespace {

struct BodyPlans : RecordFixture {
  GpuRef<std::uint32_t> x = buffer<std::uint32_t>(64, "x");

  CommandBuffer filling(std::uint32_t value) {
    CommandBuffer commands = recording({.label = "filling", .level = Level::Secondary});
    commands.fill(x, value);
    commands.end();
    return commands;
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
  // A loop with the initial condition `initial` that fills with `value`, limited to `limit`
  // iterations.
  Plan loop(std::uint32_t initial, std::uint32_t value, std::uint64_t limit) {
    const Condition go = make_condition(status, {.name = "go", .initial = initial});
    CommandBuffer cmd = recording({.label = "loop"});
    cmd.execute_while(go, filling(value), {.max_iterations = limit}, {"app.cpp", 1});
    return plan_of(frozen(cmd));
  }
};

}  // namespace

TEST_CASE("plan: the hash covers bodies, limits and the initial value of conditions") {
  BodyPlans f;
  const std::set<std::uint64_t> hashes{f.loop(1, 1, 1).plan_hash, f.loop(0, 1, 1).plan_hash,
                                       f.loop(1, 2, 1).plan_hash, f.loop(1, 1, 2).plan_hash};
  CHECK(hashes.size() == 4);
  CHECK(f.loop(1, 1, 1).plan_hash == f.loop(1, 1, 1).plan_hash);
}

TEST_CASE("plan: the text shows conditions, limits and the plans of bodies") {
  BodyPlans f;
  const std::string text = to_text(f.loop(1, 7, 5));
  for (const char* part :
       {"while go: filling", "while b0 \"go\", initially 1, max 5 iterations",
        "body 0 \"filling\", buffers b1", "\nbody 0\n  reprise plan 1\n  label \"filling\"",
        "\n    n0 command 0 \"fill x\""}) {
    INFO(part);
    CHECK(text.find(part) != std::string::npos);
  }
}

TEST_CASE("plan: loops are numbered in recorded order, outer loops first") {
  BodyPlans f;
  const CommandBuffer fill = f.filling(1);
  const auto condition = [&](std::string_view name) {
    return make_condition(f.status, {.name = name});
  };
  CommandBuffer inner = f.recording({.label = "inner", .level = Level::Secondary});
  inner.execute_while(condition("c"), fill, {.max_iterations = 1});
  inner.fill(f.x, 2u);
  inner.execute_while(condition("d"), fill, {.max_iterations = 1});
  inner.end();
  CommandBuffer cmd = f.recording();
  cmd.execute_while(condition("a"), fill, {.max_iterations = 1});
  cmd.execute_while(condition("b"), inner, {.max_iterations = 1});
  cmd.execute(fill, Nested);
  cmd.execute_if(condition("e"), fill);
  cmd.execute_while(condition("f"), fill, {.max_iterations = 1});
  const auto recording = frozen(cmd);
  const auto loops = loops_of(*recording);
  REQUIRE(loops.size() == 5);
  const std::pair<const char*, std::uint32_t> expected[] = {{"while a: filling", 0},
                                                            {"while b: inner", 1},
                                                            {"while c: filling", 1},
                                                            {"while d: filling", 1},
                                                            {"while f: filling", 4}};
  for (std::size_t i = 0; i < 5; ++i) {
    CHECK(loops[i].name == expected[i].first);
    CHECK(loops[i].command == expected[i].second);
  }
  CHECK(count_loops(*recording) == 5);
  CHECK(number_loops(*recording, 10) == std::vector<std::uint32_t>{10, 11, 14, 14, 14});
}

TEST_CASE("plan difference: bodies, branches, limits and conditions are compared") {
  using Outcome = GraphExecUpdateOutcome;
  BodyPlans f;
  const auto outcome = [](const Plan& a, const Plan& b) { return find_difference(a, b).outcome; };
  CHECK(outcome(f.loop(1, 1, 5), f.loop(0, 2, 9)) == Outcome::Success);
  const Condition a = make_condition(f.status, {.name = "a", .initial = 1}),
                  b = make_condition(f.status, {.name = "b", .initial = 1});
  const CommandBuffer one = f.filling(1);
  CommandBuffer two = f.recording({.label = "two", .level = Level::Secondary});
  two.fill(f.x, 1u);
  two.fill(f.x, 2u);
  two.end();
  const auto plan = [&](const std::function<void(CommandBuffer&)>& record) {
    CommandBuffer cmd = f.recording();
    record(cmd);
    return f.plan_of(frozen(cmd));
  };
  const Plan then = plan([&](CommandBuffer& cmd) { cmd.execute_if(a, one); });
  const PlanDifference longer =
      find_difference(then, plan([&](CommandBuffer& cmd) { cmd.execute_if(a, two); }));
  CHECK(longer.outcome == Outcome::TopologyChanged);
  CHECK(longer.node == 0);
  CHECK(outcome(then, plan([&](CommandBuffer& cmd) { cmd.execute_if(a, one, one); })) ==
        Outcome::NotSupported);
  CHECK(outcome(then, plan([&](CommandBuffer& cmd) {
                  cmd.execute_while(a, one, {.max_iterations = 1});
                })) == Outcome::NotSupported);
  CHECK(outcome(then, plan([&](CommandBuffer& cmd) { cmd.execute_if(b, one); })) ==
        Outcome::Success);  // the only condition of either plan
  CHECK(outcome(plan([&](CommandBuffer& cmd) { cmd.execute(one, Nested); }),
                plan([&](CommandBuffer& cmd) { cmd.execute(two, Nested); })) ==
        Outcome::TopologyChanged);
}
