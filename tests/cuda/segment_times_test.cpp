// The times of commands in segments. The suite "gpu" needs a GPU.
#include "backend/cuda/timing/segment_times.hpp"

#include <array>
#include <map>
#include <random>
#include <vector>

#include "backend/cuda/segments/segment_records.hpp"
#include "cuda/timed_graph.hpp"

namespace reprise::test::segment_times_test {
namespace {

using namespace detail;

constexpr std::uint32_t kValues = 40, kDispatches = 300;

// Increments by one and three warps' blocks; every third one reads what another one wrote.
struct SegmentGraph : Timed {
  Kernel count = device.load_kernel(shaders::gpu_count);
  GpuRef<unsigned long long> values = pool->allocate<unsigned long long>(kValues, "values");
  std::vector<unsigned long long> expected = std::vector<unsigned long long>(kValues);

  explicit SegmentGraph(std::uint32_t seed, Instrumentation by = Instrumentation::Timestamps) {
    std::mt19937 random(seed);
    run([&](CommandBuffer& cmd) { cmd.update(values, std::as_bytes(std::span(expected))); });
    make(record([&](CommandBuffer& cmd) {
           std::vector<CommandRef> made;
           for (std::uint32_t i = 0; i < kDispatches; ++i) {
             const std::uint32_t at = random() % kValues;
             ++expected[at];
             made.push_back(
                 cmd.dispatch(count, {.grid = 1, .block = 1}, read_write(values.slice(at, 1))));
             if (i > 10 && i % 3 == 0) cmd.edge(made[random() % (i - 1)], made[i]);
           }
         }),
         Lowering::Persistent, by);
    REQUIRE(plan().lowered.segments.size() == 1);
  }
  [[nodiscard]] CollectedReplays collect() {
    CollectedReplays collected = collector();
    const ReplaySource::Lost lost = source->collect(collected);
    CHECK(lost.replays == 0);
    CHECK(lost.nodes == 0);
    return collected;
  }
  void check_values() {
    const std::vector<unsigned long long> counted = read(values);
    for (std::uint32_t i = 0; i < kValues; ++i) {
      CAPTURE(i);
      CHECK(counted[i] == launched * expected[i]);
    }
  }
};

void check_multiprocessors(const SegmentGraph& t, const CollectedReplays::Replay& replay) {
  std::map<std::uint32_t, std::uint32_t> nodes;
  for (std::uint32_t node = 0; node < t.plan().lowered.nodes.size(); ++node) {
    if (t.plan().lowered.segment_of(node) != kNone) ++nodes[replay.nodes[node].worker];
  }
  CHECK_FALSE(nodes.contains(0));
  CHECK(nodes.size() > 1);
  CHECK(nodes.rbegin()->first <= t.device.info().multiprocessors);
}

}  // namespace

TEST_CASE("segment times: a command lasts from its first block to its last warp") {
  const SegmentTimeLayout layout{.records = {{2, 1, 0}, {0, 3, 1}, {2, 4, 1}, {1, 8, 3}},
                                 .first = {0, 4}};
  const std::uint64_t start = (std::uint64_t{7} << 32) - 100;  // the lower half wraps around
  const auto low = [&](std::int64_t after) { return static_cast<std::uint32_t>(start + after); };
  const std::array<SegmentRecordTimes, 4> row = {
      SegmentRecordTimes{low(50), 3, {low(300), 1, 1, 1, 1, 1}},
      SegmentRecordTimes{low(-20), 9, {low(90), low(400), low(80), 1, 1, 1}},
      SegmentRecordTimes{low(40), 5, {low(60), low(60), low(60), low(250), 1, 1}},
      SegmentRecordTimes{low(0), 131, {low(1), low(1), low(1), low(1), low(1), low(900)}}};
  std::array<SegmentNodeTime, 4> nodes{};
  add_segment_times(layout, row, {.replay = 1, .started = start, .ended = start + 1'000}, nodes);
  CHECK(nodes[0].started == start - 20);
  CHECK(nodes[0].ended == start + 400);
  CHECK(nodes[0].multiprocessor == 9);
  CHECK(nodes[1].ended == start + 900);
  CHECK(nodes[2].started == start + 40);
  CHECK(nodes[2].ended == start + 300);
  CHECK(nodes[2].multiprocessor == 9);
  CHECK(nodes[3].started == 0);

  nodes = {};
  const std::uint64_t long_after = start + (std::uint64_t{1} << 32);
  add_segment_times(layout, row, {.replay = 1, .started = start, .ended = long_after}, nodes);
  for (const SegmentNodeTime& node : nodes) CHECK(node.started == 0);
}

TEST_SUITE("gpu") {
  TEST_CASE("segment times: the commands of a segment lie within their replay, in order") {
    if (!have_gpu() || gpu().info().limits.max_segment_blocks == 0) return;
    for (const Instrumentation by : {Instrumentation::Timestamps, Instrumentation::Cupti}) {
      SegmentGraph t(1, by);
      t.launch(5);
      for (int again = 0; again < 3; ++again) {
        t.source->time_nodes(20, kClose);
        t.launch(30);
        t.wait();
        const CollectedReplays collected = t.collect();
        CHECK(t.source->timed_by() == TimedBy::Timestamp);
        REQUIRE(collected.replays.size() >= 30);
        const std::size_t first = collected.replays.size() - 30;
        for (std::size_t i = first; i < collected.replays.size(); ++i) {
          CAPTURE(i);
          REQUIRE(collected.replays[i].nodes.empty() == (i >= first + 20));
          if (i >= first + 20) continue;
          check_nodes(t, collected.replays[i]);
          check_multiprocessors(t, collected.replays[i]);
        }
      }
      t.check_values();
    }
  }

  TEST_CASE("segment times: a profiling clone and its graph change together") {
    if (!have_gpu() || gpu().info().limits.max_segment_blocks == 0) return;
    SegmentGraph t(2);
    t.source->time_nodes(ReplaySource::kAllReplays, kClose);
    t.launch(4);
    std::vector<std::uint32_t> disabled;
    for (std::uint32_t node = 0; node < t.plan().lowered.nodes.size(); ++node)
      if (t.plan().lowered.segment_of(node) != kNone) disabled.push_back(node);
    BindingChange change;
    change.what = BindingChange::What::Disable;
    change.nodes = disabled;
    REQUIRE(t.exec->change(change).done());
    t.launch(4);  // do nothing
    t.source->time_nodes(0, kClose);
    t.launch(4);
    change.what = BindingChange::What::Enable;
    REQUIRE(t.exec->change(change).done());
    t.launch(4);
    t.wait();
    static_cast<void>(t.collect());
    t.source->time_nodes(4, kClose);
    t.launch(8);
    t.wait();
    const CollectedReplays collected = t.collect();
    REQUIRE(collected.replays.size() == 8);
    check_nodes(t, collected.replays[0]);
    t.launched -= 8;
    t.check_values();
  }
}

}  // namespace reprise::test::segment_times_test
