// CUPTI windows on graphs with nested recordings: node times are assigned to bodies, and missing
// iterations are detected.
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cuda/body_times.hpp"

namespace reprise::test {
namespace {

// fill counter; nested { count a, nested { count b, fill c }, count a }; if go { count a, nested {
// count b } }; while, 5 times { count a; count b }.
struct Joined : Timed {
  GpuRef<unsigned long long> a = pool->allocate<unsigned long long>(1, "a"),
                             b = pool->allocate<unsigned long long>(1, "b"),
                             c = pool->allocate<unsigned long long>(1, "c");

  CommandBuffer secondary(std::string_view label,
                          const std::function<void(CommandBuffer&)>& record) {
    CommandBuffer made = device.create_command_buffer({.label = label, .level = Level::Secondary});
    made.begin();
    record(made);
    made.end();
    return made;
  }
  Joined() {
    const Kernel count = device.load_kernel(shaders::gpu_count);
    const DispatchDesc one{.grid = 1, .block = 1};
    const Condition yes = device.create_condition({.name = "yes", .initial = 1}),
                    go = device.create_condition({.name = "go", .initial = 1});
    const CommandBuffer inner = secondary("inner", [&](CommandBuffer& cmd) {
      cmd.dispatch(count, one, read_write(b));
      cmd.fill(c.as<unsigned>(), 7u);
    });
    const CommandBuffer outer = secondary("outer", [&](CommandBuffer& cmd) {
      cmd.dispatch(count, one, read_write(a));
      cmd.execute(inner, Nested);
      cmd.dispatch(count, one, read_write(a));
    });
    const CommandBuffer single =
        secondary("single", [&](CommandBuffer& cmd) { cmd.dispatch(count, one, read_write(b)); });
    const CommandBuffer branch = secondary("branch", [&](CommandBuffer& cmd) {
      cmd.dispatch(count, one, read_write(a));
      cmd.execute(single, Nested);
    });
    const CommandBuffer iteration = secondary("round", [&](CommandBuffer& cmd) {
      cmd.dispatch(count, one, read_write(a));
      cmd.dispatch(count, one, read_write(b));
    });
    run([&](CommandBuffer& cmd) {
      for (const auto& value : {a, b, c}) cmd.fill(value.as<unsigned>(), 0u);
    });
    make(record([&](CommandBuffer& cmd) {
           cmd.execute(outer, Nested);
           cmd.execute_if(yes, branch);
           cmd.execute_while(go, iteration, {.max_iterations = 5});
         }),
         Lowering::Auto, detail::Instrumentation::Cupti);
  }
};

}  // namespace

TEST_CASE(
    "cupti window: nodes of nested graphs, branches and loops are timed, and iterations match the "
    "device's counts") {
  if (!have_gpu()) return;
  Joined t;
  t.launch(2);
  t.source->time_nodes(4, kClose);
  t.launch(6);
  t.wait();
  CollectedReplays collected = t.collector();
  CHECK(t.source->collect(collected).nodes == 0);
  const std::string notice = t.source->notice();
  if (!notice.empty()) MESSAGE(notice);
  REQUIRE(collected.replays.size() == 8);
  const detail::TimingLayout timing = detail::timing_layout(t.plan());
  for (const CollectedReplays::Replay& replay : collected.replays) {
    CAPTURE(replay.replay);
    CHECK(replay.nodes.empty() == (replay.replay < 3 || replay.replay > 6));
    if (replay.nodes.empty()) continue;
    check_nodes(t, replay);
    // outer; the branch; the loop; inner; single
    CHECK(iterations_of_bodies(timing, replay) == std::vector<std::uint64_t>{1, 1, 5, 1, 1});
    check_iterations(t, replay, t.source->timed_by() == detail::TimedBy::Cupti ? 1 : 5);
    std::uint64_t iterations = 0;  // of the loop, with times
    for (std::uint64_t iteration = 0; iteration < 5; ++iteration)
      iterations += replay.nodes[timing.bodies[2].slot(0, iteration)].started != 0 ? 1 : 0;
    MESSAGE("loop iterations with times: ", iterations);
  }
  CHECK(t.read(t.a)[0] == 8 * 8);
  CHECK(t.read(t.b)[0] == 8 * 7);
}

}  // namespace reprise::test
