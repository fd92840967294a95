#include <atomic>
#include <vector>

#include "conformance/device_fixture.hpp"
#include "waiting.shaders.hpp"
#include "words.shaders.hpp"

namespace reprise::test::trim_test {
namespace {

// The size of a transient is a multiple of the page size on every device.
constexpr unsigned kCount = 2u << 20;
constexpr std::uint64_t kBytes = kCount * sizeof(unsigned);

struct TrimFixture : DeviceFixture {
  std::shared_ptr<CapturePool> step = device.create_pool({.label = "step"});
  GpuRef<unsigned> out = pool->allocate<unsigned>(16, "out");

  // Computes out = value + 3 through transients that a fill, a kernel and a copy write.
  void record(CommandBuffer& cmd, unsigned value) const {
    const auto t = step->transient<unsigned>(kCount, "t"),
               u = step->transient<unsigned>(kCount, "u");
    cmd.fill(t, 1u);
    cmd.dispatch(kernel(shaders::conf_add), {.grid = kCount / 256, .block = 256}, read(t), write(u),
                 slot("value", value), kCount);
    cmd.copy(u, t);
    cmd.dispatch(kernel(shaders::conf_add), {.grid = 1, .block = 16},
                 read(t.slice(kCount - 16, 16)), write(out), 2u, 16u);
  }
  [[nodiscard]] CapturedGraph graph(unsigned value, const std::shared_ptr<CapturePool>& of,
                                    std::string_view label = "graph") const {
    CommandBuffer cmd = recording({.label = label});
    record(cmd, value);
    cmd.end();
    return device.compile(cmd, {.pool = of});
  }
  void check_runs(CapturedGraph& graph, unsigned expected) const {
    graph.launch(queue).wait();
    CHECK(values(out) == std::vector<unsigned>(16, expected + 3));
  }
};

}  // namespace

TEST_CASE_FIXTURE(TrimFixture,
                  "trim: an idle graph's pages are unmapped, and its next launch maps others at "
                  "the same addresses") {
  CapturedGraph one = graph(5, step, "one"), two = graph(7, step, "two"),
                elsewhere = graph(9, pool, "elsewhere");
  check_runs(one, 5);
  check_runs(two, 7);
  check_runs(elsewhere, 9);
  const MemoryStatistics before = step->statistics();
  CHECK(before.slabs == 2);
  CHECK(before.mapped >= 4 * kBytes);
  CHECK(before.mapped == before.reserved);
  CHECK(before.trims == 0);
  const TrimReport report = step->trim();
  CHECK(report.slabs == 2);
  CHECK(report.busy == 0);
  CHECK(report.bytes == before.mapped);
  const MemoryStatistics trimmed = step->statistics();
  CHECK(trimmed.mapped == 0);
  CHECK(trimmed.reserved == before.reserved);
  CHECK(trimmed.peak == before.peak);
  CHECK(trimmed.trims == 2);
  CHECK(step->trim().slabs == 0);  // nothing left to unmap
  for (int round = 0; round < 3; ++round) {
    check_runs(one, 5);
    check_runs(elsewhere, 9);
    CHECK(step->trim().slabs == 1);
  }
  CHECK(step->statistics().remaps == 3);
  check_runs(two, 7);
  check_runs(one, 5);
  CHECK(step->statistics().mapped == before.mapped);
  CHECK(device.statistics().mapped >= before.mapped);
}

TEST_CASE_FIXTURE(TrimFixture, "trim: a graph with a pending launch keeps its pages") {
  const auto flag = pool->host<unsigned>(1, "flag"), seen = pool->host<unsigned>(1, "seen");
  CommandBuffer cmd = recording({.label = "slow"});
  const auto t = step->transient<unsigned>(kCount, "t");
  const unsigned rounds = is_host() ? 2'000'000'000u : 10'000'000u;  // bounds the test
  cmd.dispatch(kernel(shaders::conf_wait), {.grid = 1, .block = 1}, read_write(flag), write(seen),
               1u, rounds);
  cmd.fill(t, 4u);
  cmd.dispatch(kernel(shaders::conf_add), {.grid = 1, .block = 16}, read(t), write(out), 1u, 16u);
  cmd.end();
  CapturedGraph slow = device.compile(cmd, {.pool = step});
  slow.upload(queue);
  queue.wait_idle();
  const Fence fence = slow.launch(queue);
  const TrimReport report = device.trim();
  CHECK(report.busy == 1);
  CHECK(report.slabs == 0);
  std::atomic_ref<unsigned>(flag[0]).store(1);
  fence.wait();
  CHECK(seen[0] == 1);
  CHECK(values(out) == std::vector<unsigned>(16, 5));
  CHECK(device.trim().slabs == 1);
}

TEST_CASE_FIXTURE(TrimFixture, "trim: updates of a trimmed graph map its pages if they need them") {
  CommandBuffer cmd = recording({.label = "step"});
  record(cmd, 1);
  cmd.end();
  CapturedGraph trimmed = device.compile(cmd, {.pool = step});
  check_runs(trimmed, 1);
  CHECK(step->trim().slabs == 1);
  trimmed.scalar<unsigned>("value").set(2);
  check_runs(trimmed, 2);
  CHECK(step->trim().slabs == 1);
  const auto other = pool->allocate<unsigned>(16, "other");
  CHECK(trimmed.rebind(out, other).done());
  trimmed.launch(queue).wait();
  CHECK(values(other) == std::vector<unsigned>(16, 5));
  CHECK(step->trim().slabs == 1);
  CommandBuffer next = recording({.label = "step"});
  record(next, 11);
  next.end();
  CHECK(trimmed.update(next).done());
  check_runs(trimmed, 11);
  CHECK(step->trim().slabs == 1);
  trimmed.upload(queue);
  check_runs(trimmed, 11);
}

TEST_CASE_FIXTURE(TrimFixture, "trim: replicas are trimmed separately") {
  const auto own = pool->allocate<unsigned>(16, "own", PerReplica{2});
  CommandBuffer cmd = recording();
  const auto t = step->transient<unsigned>(kCount, "t");
  cmd.fill(t, 6u);
  cmd.dispatch(kernel(shaders::conf_add), {.grid = 1, .block = 16}, read(t), write(own), 1u, 16u);
  cmd.end();
  CapturedGraph graph = device.compile(cmd, {.pool = step, .replicas = 2});
  const Queue other = device.create_queue({.label = "other"});
  static_cast<void>(graph.launch(queue));
  static_cast<void>(graph.launch(other));
  device.wait_idle();
  CHECK(step->trim().slabs == 2);
  graph.launch(other).wait();
  CHECK(step->statistics().remaps == 1);
  CHECK(values(own.replica(1)) == std::vector<unsigned>(16, 7));
}

TEST_CASE_FIXTURE(TrimFixture,
                  "trim: small slabs are not pageable, and a destroyed graph frees its pages") {
  {
    CommandBuffer cmd = recording();
    const auto t = step->transient<unsigned>(16, "t");
    cmd.fill(t, 1u);
    cmd.copy(t, out);
    cmd.end();
    CapturedGraph small = device.compile(cmd, {.pool = step});
    CapturedGraph large = graph(1, step);
    small.launch(queue).wait();
    const TrimReport report = step->trim();
    CHECK(report.without_pages == 1);
    CHECK(report.slabs == 1);
    small.launch(queue).wait();
    CHECK(values(out) == std::vector<unsigned>(16, 1));
  }
  device.wait_idle();
  const MemoryStatistics after = step->statistics();
  CHECK(after.slabs == 0);
  CHECK(after.reserved == 0);
  CHECK(after.mapped == 0);
}

TEST_CASE_FIXTURE(TrimFixture,
                  "budget: transients that do not fit are refused with the largest holders, after "
                  "idle graphs were trimmed") {
  const auto tight = device.create_pool({.label = "tight", .budget = 3 * kBytes});
  const auto weights = tight->allocate<std::byte>(kBytes / 2, "weights");
  CapturedGraph one = graph(1, tight, "one");
  check_runs(one, 1);
  CHECK(tight->statistics().budget == 3 * kBytes);
  CHECK(tight->statistics().buffer_bytes == kBytes / 2);
  // Uses the pages that a trim of `one` frees.
  CapturedGraph two = graph(2, tight, "two");
  CHECK(tight->statistics().trims == 1);
  check_runs(two, 2);
  check_runs(one, 1);
  check_runs(two, 2);
  CHECK(tight->statistics().peak <= 3 * kBytes);
  // Idle slabs are trimmed for buffers too.
  const auto more = tight->allocate<std::byte>(kBytes * 2, "more");
  check_refused(ErrorCode::SlabExhausted, {"graph two", "pool tight", "buffers", "more"},
                [&] { static_cast<void>(two.launch(queue)); });
  check_refused(ErrorCode::SlabExhausted, {"graph three", "bytes", "pool tight", "more"},
                [&] { static_cast<void>(graph(3, tight, "three")); });
  check_refused(ErrorCode::OutOfMemory, {"pool tight", "buffers", "more"},
                [&] { static_cast<void>(tight->allocate<std::byte>(kBytes, "too much")); });
}

TEST_CASE_FIXTURE(TrimFixture, "budget: a refused launch works after memory is freed") {
  const auto tight = device.create_pool({.label = "tight", .budget = 5 * kBytes / 2});
  CapturedGraph one = graph(1, tight, "one");
  check_runs(one, 1);
  auto weights = tight->allocate<std::byte>(kBytes, "weights");
  CHECK(tight->statistics().trims == 1);
  check_refused(ErrorCode::SlabExhausted, {"weights"},
                [&] { static_cast<void>(one.launch(queue)); });
  weights = {};
  device.wait_idle();
  check_runs(one, 1);
  CHECK(one.num_replays() == 2);
}

TEST_CASE_FIXTURE(TrimFixture, "budget: a device-wide budget is enforced") {
  const std::uint64_t mapped_bytes = device.statistics().mapped;
  device.set_memory_budget(mapped_bytes + 3 * kBytes);
  CapturedGraph one = graph(1, step, "one");
  check_refused(ErrorCode::OutOfMemory, {"big", "budget", device.info().selector},
                [&] { static_cast<void>(pool->allocate<std::byte>(4 * kBytes, "big")); });
  check_runs(one, 1);
  device.set_memory_budget(mapped_bytes);
  CHECK(device.trim().slabs == 1);
  check_refused(ErrorCode::SlabExhausted, {device.info().selector},
                [&] { static_cast<void>(one.launch(queue)); });
  device.set_memory_budget(std::nullopt);
  check_runs(one, 1);
}

}  // namespace reprise::test::trim_test
