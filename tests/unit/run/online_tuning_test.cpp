#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <thread>

#include "run/graph_core.hpp"
#include "support/environment_variable.hpp"
#include "unit/run/fake_tunable.hpp"

using namespace reprise;
using namespace reprise::test;

namespace {

using State = OnlineTuningReport::State;

// As if lanes were good, and 24 of them best.
double likes_lanes(const detail::Plan& plan) { return plan.lowered.lanes == 0 ? 9000 : plan.lowered.lanes == 24 ? 5000 : 7000; }
double likes_no_lanes(const detail::Plan& plan) { return plan.lowered.lanes == 0 ? 5000 : 9000; }
constexpr std::chrono::seconds kHang{60};

// Launches until `is_there` finds what it looks for in the report.
template <class IsThere>
OnlineTuningReport replay_until(CapturedGraph& graph, const Queue& queue, IsThere&& is_there) {
  const auto until = std::chrono::steady_clock::now() + kHang;
  for (;;) {
    OnlineTuningReport report = graph.online_tuning();
    if (is_there(report)) return report;
    REQUIRE(std::chrono::steady_clock::now() < until);
    static_cast<void>(graph.launch(queue));
    std::this_thread::yield();
  }
}
OnlineTuningReport replay_until_over(CapturedGraph& graph, const Queue& queue) {
  return replay_until(graph, queue, [](const OnlineTuningReport& report) { return report.state == State::Over; });
}

}  // namespace

TEST_CASE("online tuning: what is faster takes the graph's place between launches, at most twice, and the report says so") {
  FakeTunable on(likes_lanes, FakeClock::Told);
  CapturedGraph graph = on.make_wide({.tuning = TuningMode::Online});
  const std::uint64_t lowering = graph.report().lowering_hash;
  CHECK(graph.online_tuning().state == State::Underway);
  const OnlineTuningReport report = replay_until_over(graph, on.queue);
  CHECK(report.reason.empty());
  REQUIRE(report.tries.size() == 2);
  CHECK(report.tries[0].name == "lanes 16 by cost");
  CHECK(report.tries[0].kept);
  CHECK(report.tries[0].ratio == doctest::Approx(7.0 / 9));
  CHECK(report.tries[1].lanes == 24);
  CHECK(report.tries[1].kept);
  CHECK(report.tries[1].ratio == doctest::Approx(5.0 / 7));
  CHECK(report.tries[1].ratio_low <= report.tries[1].ratio_high);
  CHECK(report.tries[1].pairs >= 9);
  CHECK(report.before.launches >= 128);
  CHECK(report.meanwhile.launches > 0);
  CHECK(report.meanwhile.p99_us >= report.meanwhile.median_us);
  CHECK(report.before.p99_us > 0);
  CHECK(graph.report().lowering_hash == lowering);  // of the compile
  CHECK(graph.core()->current_plan()->lowered.lanes == 24);
  CHECK(graph.core()->tuned().has_value());
  on.fake.world.wait_until_execs(1);
  const std::uint64_t replays = graph.num_replays();
  CHECK(graph.launch(on.queue).replay() == replays + 1);
  CHECK(graph.online_tuning().meanwhile.launches == report.meanwhile.launches);  // launches are not timed any more
}

TEST_CASE("online tuning: what is slower takes turns for a while, and leaves the graph what it was") {
  FakeTunable on(likes_no_lanes, FakeClock::Told);
  CapturedGraph graph = on.make_wide({.tuning = TuningMode::Online});
  const OnlineTuningReport report = replay_until_over(graph, on.queue);
  REQUIRE(report.tries.size() == 2);
  for (const OnlineTry& tried : report.tries) {
    CHECK_FALSE(tried.kept);
    CHECK(tried.reason == "slower beyond doubt");
    CHECK(tried.ratio == doctest::Approx(9.0 / 5));
  }
  CHECK(graph.core()->current_plan()->lowering_hash == graph.report().lowering_hash);
  CHECK_FALSE(graph.core()->tuned().has_value());
  on.fake.world.wait_until_execs(1);
}

TEST_CASE("online tuning: off unless it is asked for, by the program or by REPRISE_TUNING") {
  const auto state = [](TuningMode mode) {
    FakeTunable on(likes_lanes, FakeClock::Told);
    return on.make_wide({.tuning = mode}).online_tuning().state;
  };
  CHECK(state(TuningMode::Off) == State::Off);
  {
    const EnvironmentVariable set("REPRISE_TUNING", "online");
    CHECK(state(TuningMode::Off) == State::Underway);
  }
  {
    const EnvironmentVariable set("REPRISE_TUNING", "off");
    CHECK(state(TuningMode::Online) == State::Off);
  }
  const EnvironmentVariable set("REPRISE_TUNING", "sometimes");
  CHECK(text_of([] { const FakeInstance fake; }).find("REPRISE_TUNING is \"sometimes\"; it may be off or online") != std::string::npos);
}

TEST_CASE("online tuning: a graph that it can't be done for says why") {
  FakeTunable on(likes_lanes, FakeClock::Told);
  const auto reason = [&](const std::function<void(CommandBuffer&)>& record, CompileDesc desc = {}) {
    CommandBuffer commands = on.device.create_command_buffer({.label = "g"});
    commands.begin();
    record(commands);
    commands.end();
    desc.tuning = TuningMode::Online;
    const OnlineTuningReport report = on.device.compile(commands, desc).online_tuning();
    CHECK(report.state == State::Over);
    return report.reason;
  };
  const auto x = on.pool->allocate<int>(4, "x"), copies = on.pool->allocate<int>(4, "copies", PerInstance{2});
  CHECK(reason([](CommandBuffer& cmd) { cmd.host([] {}); }).find("host callbacks") != std::string::npos);
  CHECK(reason([&](CommandBuffer& cmd) { cmd.fill(copies, 1); }, {.instances = 2}).find("2 instances") != std::string::npos);
  const Lowering marked = Lowering::Auto.with_fault_markers();
  CHECK(reason([&](CommandBuffer& cmd) { cmd.fill(x, 1); }, {.lowering = marked}).find("fault markers") != std::string::npos);
  FakeTunable blind(likes_lanes);
  CHECK(blind.make_wide({.tuning = TuningMode::Online}).online_tuning().reason.find("does not tell times") != std::string::npos);
}

TEST_CASE("online tuning: a graph in one line has nothing to choose") {
  FakeTunable on(likes_lanes, FakeClock::Told);
  const auto x = on.pool->allocate<int>(4, "x");
  CommandBuffer commands = on.device.create_command_buffer({.label = "line"});
  commands.begin();
  for (int i = 0; i < 5; ++i) commands.fill(x, i);
  commands.end();
  CapturedGraph graph = on.device.compile(commands, {.lowering = Lowering::Lanes(1), .tuning = TuningMode::Online});
  const OnlineTuningReport report = replay_until_over(graph, on.queue);
  CHECK(report.tries.size() <= 2);
  for (const OnlineTry& tried : report.tries) CHECK_FALSE(tried.kept);
}

TEST_CASE("online tuning: a graph that is dropped while another executable takes turns leaves nothing behind") {
  FakeTunable on(likes_lanes, FakeClock::Told);
  CapturedGraph graph = on.make_wide({.tuning = TuningMode::Online});
  static_cast<void>(replay_until(graph, on.queue, [](const OnlineTuningReport& report) { return !report.tries.empty(); }));
  graph = CapturedGraph();
  on.fake.world.wait_until_execs(0);
}

TEST_CASE("online tuning: an update that makes another executable ends it, and so does tune()") {
  FakeTunable on(likes_lanes, FakeClock::Told);
  const auto other = on.pool->allocate<int>(64, "other");
  CapturedGraph graph = on.make_wide({.tuning = TuningMode::Online});
  static_cast<void>(replay_until(graph, on.queue, [](const OnlineTuningReport& report) { return !report.tries.empty(); }));
  const BufferView recorded(graph.core()->current_plan()->recording->buffers[0], 0, other.bytes());
  CHECK(graph.rebind(recorded, other).rung == UpdateRung::Reinstantiated);
  CHECK(replay_until_over(graph, on.queue).reason == "an update made another executable");

  CapturedGraph second = on.make_wide({.tuning = TuningMode::Online});
  static_cast<void>(second.tune(on.queue, {.contents = TuneDesc::Contents::Repeatable, .pairs = 9, .budget = kHang}));
  CHECK(replay_until_over(second, on.queue).reason == "tune() was called");
}

TEST_CASE("online tuning: buffers that are bound while another executable takes turns are bound there") {
  FakeTunable on(likes_lanes, FakeClock::Told);
  on.fake.world.set_changes(FakeChanges::Taken);
  const auto other = on.pool->allocate<int>(64, "other");
  CapturedGraph graph = on.make_wide({.tuning = TuningMode::Online});
  static_cast<void>(replay_until(graph, on.queue, [](const OnlineTuningReport& report) { return !report.tries.empty(); }));
  const BufferView recorded(graph.core()->current_plan()->recording->buffers[0], 0, other.bytes());
  CHECK(graph.rebind(recorded, other).rung == UpdateRung::Nodes);
  const OnlineTuningReport report = replay_until_over(graph, on.queue);
  CHECK(report.reason.empty());
  CHECK(report.tries[0].kept);
}

TEST_CASE("online tuning: whichever call fails, the graph can be launched and nothing stays behind") {
  for (std::uint64_t n = 0; n < 1200; n = n < 8 ? n + 1 : n + 97) {
    CAPTURE(n);
    FakeTunable on(likes_lanes, FakeClock::Told);
    CapturedGraph graph = on.make_wide({.tuning = TuningMode::Online});
    on.fake.world.fail_call(n);
    try {
      static_cast<void>(replay_until_over(graph, on.queue));
    } catch (const Error&) {
      // A launch was the call.
    }
    on.fake.world.fail_nothing();
    static_cast<void>(graph.launch(on.queue));
    on.device.wait_idle();
  }
}

TEST_CASE("online tuning: where there is no memory for another executable's transients, the graph stays what it was") {
  FakeTunable on([](const detail::Plan& plan) { return plan.lowered.lanes == 1 ? 9000.0 : 5000.0; }, FakeClock::Told);
  const auto first = on.pool->transient<int>(1024, "first"), second = on.pool->transient<int>(1024, "second");
  const auto kept = on.pool->allocate<int>(1024, "kept"), other = on.pool->allocate<int>(1024, "other");
  CommandBuffer commands = on.device.create_command_buffer({.label = "transients"});
  commands.begin();
  commands.fill(first, 1);
  commands.copy(first, kept);
  for (int i = 0; i < 3; ++i) commands.fill(kept, i);
  commands.fill(second, 2);
  commands.copy(second, other);
  commands.end();
  CapturedGraph graph = on.device.compile(commands, {.pool = on.pool, .lowering = Lowering::Lanes(1), .tuning = TuningMode::Online});
  on.fake.world.limit_bytes(on.fake.world.memory_bytes() + 64);
  const OnlineTuningReport report = replay_until_over(graph, on.queue);
  REQUIRE_FALSE(report.tries.empty());
  CHECK(report.tries[0].reason.find("bytes") != std::string::npos);
  CHECK(graph.core()->current_plan()->lowered.lanes == 1);
}
