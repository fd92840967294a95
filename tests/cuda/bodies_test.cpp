// Graphs with conditionals and nested graphs beside what a GPU builds around them: twins and fault
// markers.
#include <vector>

#include "cuda/body_times.hpp"

namespace reprise::test {
namespace {

// A loop that counts `counter` up to the next multiple of `end`, then a nested graph that counts
// `other`.
struct Bodies {
  explicit Bodies(Timed& t)
      : counter(t.pool->allocate<unsigned long long>(1, "counter")),
        other(t.pool->allocate<unsigned long long>(1, "other")),
        go(t.device.create_condition({.name = "go", .initial = 1})) {
    t.run([&](CommandBuffer& cmd) {
      cmd.fill(counter.as<unsigned>(), 0u);
      cmd.fill(other.as<unsigned>(), 0u);
    });
    const Kernel count_to = t.device.load_kernel(shaders::gpu_count_to),
                 count = t.device.load_kernel(shaders::gpu_count);
    const DispatchDesc one{.grid = 1, .block = 1};
    CommandBuffer body =
        t.device.create_command_buffer({.label = "body", .level = Level::Secondary});
    body.begin();
    body.dispatch(count_to, one, read_write(counter), 5u, go);
    body.end();
    CommandBuffer inner =
        t.device.create_command_buffer({.label = "inner", .level = Level::Secondary});
    inner.begin();
    inner.dispatch(count, one, read_write(other));
    inner.dispatch(count, one, read_write(other));
    inner.end();
    commands = t.record([&](CommandBuffer& cmd) {
      cmd.execute_while(go, body);
      cmd.execute(inner, Nested);
    });
  }
  GpuRef<unsigned long long> counter, other;
  Condition go;
  CommandBuffer commands;
};

}  // namespace

TEST_CASE(
    "cuda bodies: a twin has conditions of its own, times what loops and nested graphs run, round "
    "by round, and counts in the same place") {
  if (!have_gpu()) return;
  Timed t;
  Bodies bodies(t);
  t.make(bodies.commands);
  t.launch(3);
  t.source->time_nodes(2, detail::ReplaySource::Precision::Close);
  t.launch(4);
  t.wait();
  Notes notes = t.notes();
  CHECK(t.source->collect(notes).nodes == 0);
  REQUIRE(notes.replays.size() == 7);
  for (const Notes::Replay& replay : notes.replays) {
    CAPTURE(replay.replay);
    CHECK(replay.nodes.empty() == (replay.replay != 4 && replay.replay != 5));
    if (replay.nodes.empty()) continue;
    check_nodes(t, replay);
    check_rounds(t, replay, 1000);
    CHECK(rounds_of_bodies(detail::timing_layout(t.plan()), replay) ==
          std::vector<std::uint64_t>{5, 1});
  }
  CHECK(t.read(bodies.counter)[0] == 7 * 5);
  CHECK(t.read(bodies.other)[0] == 7 * 2);
  const auto counts = t.exec->loop_counts();
  REQUIRE(counts.size() == 1);
  CHECK(counts[0].iterations == 5);
}

TEST_CASE(
    "cuda bodies: branches that are not taken have no times, and loops in loops count on over a "
    "replay") {
  if (!have_gpu()) return;
  Timed t;
  const auto counter = t.pool->allocate<unsigned long long>(1, "counter"),
             other = t.pool->allocate<unsigned long long>(1, "other");
  t.run([&](CommandBuffer& cmd) {
    cmd.fill(counter.as<unsigned>(), 0u);
    cmd.fill(other.as<unsigned>(), 0u);
  });
  const Kernel count = t.device.load_kernel(shaders::gpu_count);
  const DispatchDesc one{.grid = 1, .block = 1};
  const Condition yes = t.device.create_condition({.name = "yes", .initial = 1}),
                  no = t.device.create_condition({.name = "no"}),
                  which = t.device.create_condition({.name = "which", .initial = 1}),
                  go = t.device.create_condition({.name = "go", .initial = 1});
  const auto counting = [&](std::string_view label, const GpuRef<unsigned long long>& value) {
    CommandBuffer made =
        t.device.create_command_buffer({.label = label, .level = Level::Secondary});
    made.begin();
    made.dispatch(count, one, read_write(value));
    made.end();
    return made;
  };
  const CommandBuffer a = counting("a", counter), b = counting("b", other);
  CommandBuffer round =
      t.device.create_command_buffer({.label = "round", .level = Level::Secondary});
  round.begin();
  round.execute(a, Nested);
  round.execute_if(yes, a);
  round.end();
  t.make(t.record([&](CommandBuffer& cmd) {
    cmd.execute_if(no, a, b);
    cmd.execute_switch(which, {a, b, a});
    cmd.execute_while(go, round, {.max_iterations = 4});
  }));
  t.source->time_nodes(3, kClose);
  t.launch(3);
  t.wait();
  Notes notes = t.notes();
  CHECK(t.source->collect(notes).nodes == 0);
  REQUIRE(notes.replays.size() == 3);
  for (const Notes::Replay& replay : notes.replays) {
    CAPTURE(replay.replay);
    REQUIRE_FALSE(replay.nodes.empty());
    check_rounds(t, replay, 1000);
    // then, else; three cases; the loop; in it the nested one and the branch
    CHECK(rounds_of_bodies(detail::timing_layout(t.plan()), replay) ==
          std::vector<std::uint64_t>{0, 1, 0, 1, 0, 4, 4, 4});
  }
  CHECK(t.read(other)[0] == 3 * 2);
  CHECK(t.read(counter)[0] == 3 * 8);
}

TEST_CASE("cuda bodies: fault markers stand around loops and nested graphs") {
  if (!have_gpu()) return;
  Timed t;
  Bodies bodies(t);
  t.make(bodies.commands, Lowering(Lowering::Auto).with_fault_markers());
  t.launch(2);
  t.wait();
  CHECK(t.read(bodies.counter)[0] == 2 * 5);
  CHECK(t.exec->unfinished_nodes().empty());
}

}  // namespace reprise::test
