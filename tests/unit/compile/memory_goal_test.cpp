#include "compile/memory_goal.hpp"

#include <doctest/doctest.h>

#include <string>

#include <reprise/error.hpp>

#include "base/split_mix.hpp"
#include "dependencies/dependency_graph.hpp"
#include "plan/plan.hpp"
#include "support/network_recordings.hpp"
#include "support/random_recording.hpp"
#include "support/thrown_by.hpp"

namespace {

using namespace reprise;
using namespace reprise::detail;
using namespace reprise::test;

GoalResult lowered_for(const Recording& recording, MemoryGoal goal,
                       Lowering lowering = Lowering::Auto) {
  const DependencyGraph dependencies = build_dependencies(recording);
  GoalResult result = lower_for_goal(recording, dependencies,
                                     {.goal = goal, .lowering = lowering, .alignment = 64});
  check_lowered_graph(dependencies, result.lowered);
  return result;
}

// Unordered branches, each with a transient of 4 KiB that is written and read.
RecordingPtr branches(std::uint32_t count) {
  RecordingBuilder b;
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto t = b.add_buffer("t" + std::to_string(i), 4096, BufferKind::Transient),
               out = b.add_buffer("out" + std::to_string(i), 4096);
    b.dispatch("make", {b.write(t)});
    b.dispatch("use", {b.read(t), b.write(out)});
  }
  return b.finish();
}

// A chain of 40 commands, and eight branches of two beside it.
RecordingPtr chain_with_branches() {
  RecordingBuilder b;
  const auto x = b.add_buffer("x", 64);
  for (std::uint32_t i = 0; i < 40; ++i) {
    b.dispatch("link", {b.read_write(x)});
    if (i % 5 != 0) continue;
    const auto t = b.add_buffer("t" + std::to_string(i), 4096, BufferKind::Transient),
               out = b.add_buffer("out" + std::to_string(i), 4096);
    b.dispatch("make", {b.write(t)});
    b.dispatch("use", {b.read(t), b.write(out)});
  }
  return b.finish();
}

// `count` transients of 4 KiB to 256 KiB, all filled first and then read one by one.
RecordingPtr filled_then_read(std::uint32_t count) {
  RecordingBuilder b;
  SplitMix64 random(7);
  std::vector<std::uint32_t> transients;
  for (std::uint32_t i = 0; i < count; ++i) {
    transients.push_back(b.add_buffer("t" + std::to_string(i), 4096 * (1 + random.next() % 64),
                                      BufferKind::Transient));
  }
  const auto sum = b.add_buffer("sum", 4096);
  for (const std::uint32_t t : transients) b.dispatch("fill", {b.write(t)});
  for (const std::uint32_t t : transients) b.dispatch("add", {b.read(t), b.read_write(sum)});
  return b.finish();
}

}  // namespace

TEST_CASE("memory goal: Speed equals the lowering without a goal") {
  const auto recording = branches(16);
  const DependencyGraph dependencies = build_dependencies(*recording);
  const GoalResult result = lower_for_goal(*recording, dependencies, {.alignment = 64});
  CHECK(result.lowered.edges.size() ==
        build_lowered_graph(dependencies, Lowering::Auto).edges.size());
  CHECK(result.placement.slab_bytes == 16 * 4096);
  CHECK(result.memory_tradeoff.goal == MemoryGoal::Speed);
  CHECK(result.memory_tradeoff.after == MemoryTradeoff::Side{});
}

TEST_CASE("memory goal: Minimum runs branches sequentially and reports the trade-off") {
  const GoalResult result = lowered_for(*branches(16), MemoryGoal::Minimum);
  CHECK(result.placement.slab_bytes == 4096);
  CHECK(result.lowered.lanes == 1);
  CHECK(result.memory_tradeoff.before.slab_bytes == 16 * 4096);
  CHECK(result.memory_tradeoff.before.critical_path == 2);
  CHECK(result.memory_tradeoff.after.slab_bytes == 4096);
  CHECK(result.memory_tradeoff.after.critical_path == 32);
  CHECK(result.memory_tradeoff.after.lanes == 1);
}

TEST_CASE("memory goal: Balanced keeps the critical path within five fourths") {
  const GoalResult none = lowered_for(*branches(16), MemoryGoal::Balanced);
  CHECK(none.memory_tradeoff.after == none.memory_tradeoff.before);

  const GoalResult some = lowered_for(*chain_with_branches(), MemoryGoal::Balanced);
  CHECK(some.memory_tradeoff.before.slab_bytes == 8 * 4096);
  CHECK(some.memory_tradeoff.before.critical_path == 40);
  CHECK(some.memory_tradeoff.after.slab_bytes < 8 * 4096);
  CHECK(some.memory_tradeoff.after.critical_path <= 50);
}

TEST_CASE("memory goal: on random graphs and networks no goal needs more bytes than Speed") {
  const auto check = [](const Recording& recording) {
    const std::uint64_t speed = lowered_for(recording, MemoryGoal::Speed).placement.slab_bytes;
    const GoalResult balanced = lowered_for(recording, MemoryGoal::Balanced),
                     min_bytes = lowered_for(recording, MemoryGoal::Minimum);
    CHECK(balanced.memory_tradeoff.before.slab_bytes == speed);
    CHECK(balanced.placement.slab_bytes <= speed);
    CHECK(min_bytes.placement.slab_bytes <= balanced.placement.slab_bytes);
    CHECK(4 * balanced.memory_tradeoff.after.critical_path <=
          5 * balanced.memory_tradeoff.before.critical_path);
  };
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    CAPTURE(seed);
    check(*random_recording(
        {.seed = seed, .commands = 40, .buffers = 12, .kind = BufferKind::Transient}));
  }
  check(*resnet_step({.blocks = 4}));
  check(*transformer_step({.blocks = 2}));
  check(*unet_step({.blocks = 4}));
}

TEST_CASE("memory goal: Minimum needs no more bytes than 1, 2, 4 ... 128 lanes") {
  const auto check = [](const Recording& recording) {
    const std::uint64_t minimum = lowered_for(recording, MemoryGoal::Minimum).placement.slab_bytes;
    for (std::uint32_t lanes = 1; lanes <= 128; lanes *= 2) {
      CAPTURE(lanes);
      CHECK(minimum <=
            lowered_for(recording, MemoryGoal::Speed, Lowering::Lanes(lanes)).placement.slab_bytes);
    }
  };
  check(*filled_then_read(200));
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    CAPTURE(seed);
    check(*random_recording(
        {.seed = seed, .commands = 60, .buffers = 20, .kind = BufferKind::Transient}));
  }
}

TEST_CASE("memory goal: a message says what the other goals would take") {
  const auto message_for = [](RecordingPtr recording, Lowering lowering) {
    DependencyGraph dependencies = build_dependencies(*recording);
    GoalResult result =
        lower_for_goal(*recording, dependencies, {.lowering = lowering, .alignment = 64});
    return other_goals(freeze_plan("sums", recording, std::move(dependencies),
                                   std::move(result.lowered), std::move(result.placement)),
                       lowering, 64);
  };
  const auto message = message_for(branches(400), Lowering::Lanes(300));
  REQUIRE(message);
  CHECK(message->severity == Severity::Info);
  CHECK(message->id == "memory-goal");
  CHECK(message->text ==
        "the transient buffers of graph sums take 1638400 bytes (critical path: 3 commands); "
        "MemoryGoal::Balanced would take 1638400 bytes (critical path: 3 commands), "
        "MemoryGoal::Minimum 4096 bytes (critical path: 800 commands)");
  CHECK_FALSE(message_for(branches(200), Lowering::Auto));  // little to save
  CHECK_FALSE(message_for(branches(400), Lowering::Faithful));
  CHECK_FALSE(message_for(branches(5000), Lowering::Lanes(4)));
}

TEST_CASE("memory goal: the lane limit is respected, and Faithful is refused") {
  const GoalResult result = lowered_for(*branches(16), MemoryGoal::Minimum, Lowering::Lanes(4));
  CHECK(result.memory_tradeoff.before.lanes == 4);
  CHECK(result.memory_tradeoff.after.lanes <= 4);
  const auto error = thrown_by([] {
    static_cast<void>(lowered_for(*branches(2), MemoryGoal::Balanced, Lowering::Faithful));
  });
  CHECK(error.code() == ErrorCode::InvalidArgument);
  CHECK(std::string(error.what()).find("Faithful") != std::string::npos);
}

TEST_CASE("memory goal: the plan's text reports the trade-off") {
  auto recording = branches(4);
  DependencyGraph dependencies = build_dependencies(*recording);
  GoalResult result =
      lower_for_goal(*recording, dependencies, {.goal = MemoryGoal::Minimum, .alignment = 64});
  Plan plan = freeze_plan("p", recording, std::move(dependencies), std::move(result.lowered),
                          std::move(result.placement));
  CHECK(to_text(plan).find("memory goal") == std::string::npos);
  plan.memory_tradeoff = result.memory_tradeoff;
  CHECK(to_text(plan).find("memory goal minimum: slab 16384 -> 4096 bytes, critical path 2 -> 8 "
                           "commands, lanes 0 -> 1\n") != std::string::npos);
}
