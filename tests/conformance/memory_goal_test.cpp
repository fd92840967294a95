#include <algorithm>

#include "conformance/device_fixture.hpp"
#include "words.shaders.hpp"

namespace reprise::test::memory_goal_test {
namespace {

constexpr unsigned kCount = 1024, kBranches = 12;
constexpr DispatchDesc kWords{.grid = kCount / 256, .block = 256};

// Records independent branches, each with its own transient.
void record_branches(CommandBuffer& cmd, CapturePool& pool, const Kernel& set,
                     const GpuRef<unsigned>& out) {
  for (unsigned b = 0; b < kBranches; ++b) {
    const auto t = pool.transient<unsigned>(kCount, "branch");
    cmd.dispatch(set, kWords, write(t), b + 1, kCount);
    cmd.copy(t, out.slice(b * kCount, kCount));
  }
}

}  // namespace

TEST_CASE_FIXTURE(DeviceFixture,
                  "memory goal: fewer bytes, the same results, and a reported trade-off") {
  const auto out = pool->allocate<unsigned>(kBranches * kCount, "out");
  CommandBuffer cmd = recording();
  record_branches(cmd, *pool, kernel(shaders::conf_set), out);
  cmd.end();
  for (const MemoryGoal goal : {MemoryGoal::Speed, MemoryGoal::Balanced, MemoryGoal::Minimum}) {
    CapturedGraph graph = device.compile(
        cmd, {.pool = pool, .memory_goal = goal, .memory_search_budget = std::chrono::seconds(1)});
    const CompileReport& report = graph.report();
    CHECK(report.memory_tradeoff.goal == goal);
    if (goal == MemoryGoal::Minimum) {
      CHECK(report.memory_tradeoff.before.slab_bytes == kBranches * kCount * 4);
      CHECK(report.memory_tradeoff.after.slab_bytes == kCount * 4);
      CHECK(report.slab_bytes == kCount * 4);
      CHECK(report.memory_tradeoff.after.critical_path == 2 * kBranches);
      CHECK(report.lanes == 1);
    } else {
      CHECK(report.slab_bytes == kBranches * kCount * 4);
    }
    graph.launch(queue).wait();
    const auto found = values(out);
    for (unsigned i = 0; i < found.size(); ++i) REQUIRE(found[i] == i / kCount + 1);
  }
}

TEST_CASE_FIXTURE(DeviceFixture, "memory goal: updates keep the goal") {
  const auto out = pool->allocate<unsigned>(kBranches * kCount, "out");
  const Kernel set = kernel(shaders::conf_set);
  CommandBuffer cmd = recording();
  record_branches(cmd, *pool, set, out);
  cmd.end();
  CapturedGraph graph = device.compile(cmd, {.pool = pool, .memory_goal = MemoryGoal::Minimum});
  CommandBuffer other = recording();
  record_branches(other, *pool, set, out);
  cmd.reset();
  other.fill(out.slice(0, kCount), 7u);
  other.end();
  CHECK(graph.update(other).done());
  CHECK(graph.report().slab_bytes == kCount * 4);
  graph.launch(queue).wait();
  CHECK(values(out)[0] == 7);
}

TEST_CASE_FIXTURE(
    DeviceFixture,
    "memory goal: tuning rejects lowerings that need more memory than the goal allows") {
  const auto out = pool->allocate<unsigned>(kBranches * kCount, "out");
  CommandBuffer cmd = recording();
  record_branches(cmd, *pool, kernel(shaders::conf_set), out);
  cmd.end();
  CapturedGraph graph = device.compile(cmd, {.pool = pool, .memory_goal = MemoryGoal::Minimum});
  const TuneReport tuned = graph.tune(queue, {.pairs = 9});
  const bool is_reported =
      std::any_of(tuned.candidates.begin(), tuned.candidates.end(), [](const TuneCandidate& c) {
        return c.pairs == 0 && c.reason.find("memory goal") != std::string::npos;
      });
  CHECK(is_reported);
  CHECK(graph.report().slab_bytes == kCount * 4);
  graph.launch(queue).wait();
  const auto found = values(out);
  for (unsigned i = 0; i < found.size(); ++i) REQUIRE(found[i] == i / kCount + 1);
}

TEST_CASE_FIXTURE(DeviceFixture, "memory goal: Faithful is refused with a goal that adds edges") {
  CommandBuffer cmd = recording();
  cmd.end();
  check_refused(ErrorCode::InvalidArgument, {"MemoryGoal", "Faithful"}, [&] {
    static_cast<void>(
        device.compile(cmd, {.lowering = Lowering::Faithful, .memory_goal = MemoryGoal::Minimum}));
  });
}

}  // namespace reprise::test::memory_goal_test
