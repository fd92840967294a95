// Pools whose graphs share a slab (SlabSharing): results, bytes, growth, trims, budgets.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "conformance/device_fixture.hpp"
#include "waiting.shaders.hpp"
#include "words.shaders.hpp"

namespace reprise::test::slab_sharing_test {
namespace {

// The size of a transient is a multiple of the page size on every device.
constexpr unsigned kCount = 1u << 20;
constexpr std::uint64_t kBytes = kCount * sizeof(unsigned);
constexpr unsigned kRead = 64, kRounds = 50;

// A graph on a shared slab, its output and the value that it writes.
struct Sharer {
  CapturedGraph graph;
  GpuRef<unsigned> out;
  unsigned value;
};

struct SlabSharingFixture : DeviceFixture {
  Queue other = device.create_queue({.label = "other"});
  std::shared_ptr<CapturePool> step = sharing_pool();

  [[nodiscard]] std::shared_ptr<CapturePool> sharing_pool(
      std::optional<std::uint64_t> budget = {}, std::optional<std::uint64_t> reserve = {}) const {
    return device.create_pool({.label = "step",
                               .sharing = SlabSharing::OneAtATime,
                               .reserve = reserve,
                               .budget = budget});
  }
  // Fills `transients` concurrently live transients with `value`. A long-running kernel modifies
  // the end of the last one, which is then copied to `out`.
  void record(CommandBuffer& cmd, unsigned transients, unsigned value,
              const GpuRef<unsigned>& out) const {
    std::vector<GpuRef<unsigned>> all;
    for (unsigned i = 0; i < transients; ++i) {
      all.push_back(step->transient<unsigned>(kCount, "t"));
      cmd.fill(all.back(), value);
    }
    const auto last = all.back().slice(kCount - kRead, kRead);
    cmd.dispatch(kernel(shaders::conf_churn), {.grid = 1, .block = kRead}, read_write(last),
                 kRounds, kRead);
    all.pop_back();
    for (const auto& t : all) {
      cmd.dispatch(kernel(shaders::conf_mix), {.grid = 1, .block = kRead},
                   read(t.slice(kCount - kRead, kRead)), read_write(last), value + 1, kRead);
    }
    cmd.copy(last, out);
  }
  [[nodiscard]] Sharer sharer(unsigned transients, unsigned value,
                              const std::shared_ptr<CapturePool>& of, CompileDesc desc = {}) const {
    Sharer made{{}, pool->allocate<unsigned>(kRead, "out", PerReplica{desc.replicas}), value};
    CommandBuffer cmd = recording({.label = transients == 1   ? "small"
                                            : transients == 2 ? "middle"
                                                              : "large"});
    record(cmd, transients, value, made.out);
    cmd.end();
    desc.pool = of;
    made.graph = device.compile(cmd, desc);
    return made;
  }
  [[nodiscard]] static std::vector<unsigned> expected(unsigned transients, unsigned value) {
    unsigned last = value;
    for (unsigned r = 0; r < kRounds; ++r) last = last * 1664525u + 1013904223u;
    for (unsigned i = 1; i < transients; ++i)
      last = last * 1664525u + (value ^ (value + 1)) + 1013904223u;
    return std::vector<unsigned>(kRead, last);
  }
  void check_runs(Sharer& sharer, unsigned transients, const Queue& on) const {
    sharer.graph.launch(on).wait();
    CHECK(values(sharer.out) == expected(transients, sharer.value));
  }
  // The size of a slab for `transients` transients.
  [[nodiscard]] std::uint64_t bytes_of(unsigned transients) const {
    const auto alone = sharing_pool();
    const Sharer one = sharer(transients, 1, alone);
    return alone->statistics().mapped;
  }
  [[nodiscard]] bool was_reported(std::string_view id) const {
    return std::find(messages->begin(), messages->end(), id) != messages->end();
  }
};

}  // namespace

TEST_CASE_FIXTURE(SlabSharingFixture,
                  "slab sharing: graphs on two queues share one slab of the largest size and give "
                  "their own results") {
  std::vector<Sharer> graphs;
  const std::vector<unsigned> sizes = {1, 2, 3, 1};
  for (unsigned i = 0; i < sizes.size(); ++i) graphs.push_back(sharer(sizes[i], 100 + i, step));
  const MemoryStatistics now = step->statistics();
  CHECK(now.slabs == 1);
  CHECK(now.shared_slabs == 1);
  CHECK(now.sharers == 4);
  CHECK(now.mapped == bytes_of(3));
  CHECK(now.reserved == now.mapped);
  CHECK(now.mapped < 4 * kBytes);
  CHECK(step->live_graphs() == 4);
  for (int round = 0; round < 15; ++round) {
    for (std::size_t i = 0; i < graphs.size(); ++i)
      static_cast<void>(graphs[i].graph.launch((round + i) % 2 == 0 ? queue : other));
  }
  device.wait_idle();
  for (std::size_t i = 0; i < graphs.size(); ++i)
    CHECK(values(graphs[i].out) == expected(sizes[i], graphs[i].value));
  CHECK_FALSE(was_reported("another-shared-slab"));
}

TEST_CASE_FIXTURE(SlabSharingFixture,
                  "slab sharing: the slab grows while graphs run and shrinks after its largest "
                  "graph is destroyed") {
  Sharer small = sharer(1, 5, step);
  const std::uint64_t alone = step->statistics().mapped;
  CHECK(alone == bytes_of(1));
  for (int i = 0; i < 20; ++i) static_cast<void>(small.graph.launch(queue));
  {
    Sharer large = sharer(3, 6, step);
    CHECK(step->statistics().mapped == bytes_of(3));
    for (int i = 0; i < 10; ++i) {
      static_cast<void>(large.graph.launch(other));
      static_cast<void>(small.graph.launch(queue));
    }
    device.wait_idle();
    CHECK(values(small.out) == expected(1, 5));
    CHECK(values(large.out) == expected(3, 6));
    static_cast<void>(large.graph.launch(other));
  }
  device.wait_idle();
  CHECK(step->statistics().mapped == alone);
  CHECK(step->statistics().sharers == 1);
  check_runs(small, 1, other);
  small.graph = {};
  device.wait_idle();
  const MemoryStatistics empty = step->statistics();
  CHECK(empty.slabs == 0);
  CHECK(empty.shared_slabs == 0);
  CHECK(empty.sharers == 0);
  CHECK(empty.mapped == 0);
  CHECK(empty.reserved == 0);
  Sharer next = sharer(2, 7, step);
  check_runs(next, 2, queue);
}

TEST_CASE_FIXTURE(SlabSharingFixture,
                  "slab sharing: transients may span the boundaries of growth") {
  Sharer small = sharer(1, 5, step);
  check_runs(small, 1, queue);
  const auto t = step->transient<unsigned>(3 * kCount, "t"),
             u = step->transient<unsigned>(3 * kCount, "u");
  const auto sums = pool->host<unsigned>(3 * kCount, "sums");
  CommandBuffer cmd = recording({.label = "wide"});
  cmd.fill(t, 7u);
  cmd.dispatch(kernel(shaders::conf_add), {.grid = 3 * kCount / 256, .block = 256}, read(t),
               write(u), 2u, 3 * kCount);
  cmd.copy(u, t);
  cmd.copy(t, sums);
  cmd.end();
  CapturedGraph wide = device.compile(cmd, {.pool = step});
  for (int round = 0; round < 2; ++round) {
    std::fill_n(sums.data(), sums.size(), 0u);
    wide.launch(other).wait();
    CHECK(std::all_of(sums.data(), sums.data() + sums.size(),
                      [](unsigned value) { return value == 9; }));
    check_runs(small, 1, queue);
    CHECK(step->trim().slabs == 1);
  }
}

TEST_CASE_FIXTURE(
    SlabSharingFixture,
    "slab sharing: a trim unmaps the pages once, and the next launch of any graph maps them") {
  Sharer one = sharer(1, 5, step), two = sharer(2, 6, step);
  check_runs(one, 1, queue);
  check_runs(two, 2, other);
  const std::uint64_t bytes = step->statistics().mapped;
  for (int round = 0; round < 3; ++round) {
    const TrimReport report = step->trim();
    CHECK(report.slabs == 1);
    CHECK(report.bytes == bytes);
    CHECK(report.busy == 0);
    CHECK(step->statistics().mapped == 0);
    CHECK(step->statistics().reserved == bytes);
    CHECK(device.trim().slabs == 0);  // nothing left to unmap
    check_runs(round % 2 == 0 ? one : two, round % 2 == 0 ? 1 : 2, queue);
    CHECK(step->statistics().mapped == bytes);
    CHECK(step->statistics().remaps == static_cast<std::uint64_t>(round) + 1);
    check_runs(one, 1, other);
    check_runs(two, 2, queue);
  }
  CHECK(step->trim().slabs == 1);
  Sharer three = sharer(3, 7, step);  // maps the same pages and more
  check_runs(three, 3, queue);
  check_runs(one, 1, queue);
  CHECK(step->trim().slabs == 1);
  three.graph = {};
  device.wait_idle();
  check_runs(two, 2, queue);
  // The slab shrinks to the size that the remaining graphs need.
  CHECK(step->statistics().mapped == bytes);
}

TEST_CASE_FIXTURE(SlabSharingFixture,
                  "slab sharing: the slab keeps its pages while one graph runs") {
  const auto flag = pool->host<unsigned>(1, "flag"), seen = pool->host<unsigned>(1, "seen");
  CommandBuffer cmd = recording({.label = "slow"});
  const auto t = step->transient<unsigned>(kCount, "t");
  const unsigned rounds = is_host() ? 2'000'000'000u : 10'000'000u;  // bounds the test
  cmd.dispatch(kernel(shaders::conf_wait), {.grid = 1, .block = 1}, read_write(flag), write(seen),
               1u, rounds);
  cmd.fill(t, 4u);
  cmd.end();
  CapturedGraph slow = device.compile(cmd, {.pool = step});
  Sharer idle = sharer(1, 5, step);
  check_runs(idle, 1, other);
  slow.upload(queue);
  queue.wait_idle();
  const Fence fence = slow.launch(queue);
  const TrimReport report = step->trim();
  CHECK(report.busy == 1);
  CHECK(report.slabs == 0);
  std::atomic_ref<unsigned>(flag[0]).store(1);
  fence.wait();
  CHECK(seen[0] == 1);
  CHECK(step->trim().slabs == 1);
}

TEST_CASE_FIXTURE(SlabSharingFixture,
                  "slab sharing: a budget counts the slab once and refuses a larger one") {
  const auto tight = sharing_pool(bytes_of(2));
  Sharer one = sharer(2, 5, tight), two = sharer(2, 6, tight), three = sharer(1, 7, tight);
  check_runs(one, 2, queue);
  check_runs(two, 2, other);
  CHECK(tight->statistics().trims == 0);
  check_refused(ErrorCode::SlabExhausted, {"graph large", "bytes more", "pool step"},
                [&] { static_cast<void>(sharer(3, 8, tight)); });
  check_runs(three, 1, queue);
  CHECK(tight->statistics().sharers == 3);
  CHECK(tight->statistics().peak <= bytes_of(2));
  device.trim();
  auto weights = tight->allocate<std::byte>(kBytes, "weights");  // uses the freed bytes
  check_refused(ErrorCode::SlabExhausted, {"graph small", "pool step", "weights"},
                [&] { static_cast<void>(three.graph.launch(queue)); });
  weights = {};
  device.wait_idle();
  check_runs(three, 1, queue);
  check_runs(one, 2, other);
}

TEST_CASE_FIXTURE(SlabSharingFixture,
                  "slab sharing: a graph beyond the reservation starts another shared slab and a "
                  "message reports it") {
  const auto narrow = sharing_pool({}, bytes_of(2));
  Sharer small = sharer(1, 5, narrow);
  CHECK_FALSE(was_reported("another-shared-slab"));
  Sharer large = sharer(3, 6, narrow);
  CHECK(was_reported("another-shared-slab"));
  CHECK(narrow->statistics().shared_slabs == 2);
  CHECK(narrow->statistics().mapped == bytes_of(1) + bytes_of(3));
  Sharer middle = sharer(2, 7, narrow);
  CHECK(narrow->statistics().mapped == bytes_of(1) + bytes_of(3));
  CHECK(std::count(messages->begin(), messages->end(), "another-shared-slab") == 1);
  for (int round = 0; round < 5; ++round) {
    for (Sharer* sharer : {&small, &large, &middle})
      static_cast<void>(sharer->graph.launch(round % 2 == 0 ? queue : other));
  }
  device.wait_idle();
  CHECK(values(small.out) == expected(1, 5));
  CHECK(values(large.out) == expected(3, 6));
  CHECK(values(middle.out) == expected(2, 7));
}

TEST_CASE_FIXTURE(SlabSharingFixture, "slab sharing: a graph without transients shares nothing") {
  Sharer one = sharer(1, 5, step), two = sharer(2, 6, step);
  CHECK(step->statistics().sharers == 2);
  CHECK(step->statistics().mapped == bytes_of(2));
  CommandBuffer cmd = recording();
  cmd.fill(one.out, 9u);
  cmd.end();
  CapturedGraph none = device.compile(cmd, {.pool = step});
  CHECK(step->statistics().sharers == 2);
  device.wait_idle();
  CHECK(step->trim().slabs == 1);
  none.launch(queue).wait();
  CHECK(values(one.out) == std::vector<unsigned>(kRead, 9u));
  CHECK(step->statistics().mapped == 0);  // the graph needs no page of the slab
}

TEST_CASE_FIXTURE(
    SlabSharingFixture,
    "slab sharing: replicas share with replicas of the same index and run concurrently") {
  Sharer one = sharer(1, 5, step, {.replicas = 2}), two = sharer(2, 6, step, {.replicas = 2});
  const MemoryStatistics now = step->statistics();
  CHECK(now.shared_slabs == 2);
  CHECK(now.sharers == 4);
  CHECK(now.mapped == 2 * bytes_of(2));
  for (int round = 0; round < 5; ++round) {
    for (Sharer* sharer : {&one, &two}) {
      CHECK(sharer->graph.launch(queue).replica() == 0);
      CHECK(sharer->graph.launch(other).replica() == 1);
    }
  }
  device.wait_idle();
  for (std::uint32_t i = 0; i < 2; ++i) {
    CHECK(values(one.out.replica(i)) == expected(1, 5));
    CHECK(values(two.out.replica(i)) == expected(2, 6));
  }
  CHECK(step->trim().slabs == 2);
  one.graph.launch(other).wait();
  CHECK(step->statistics().mapped == bytes_of(2));
  CHECK(values(one.out.replica(1)) == expected(1, 5));
}

TEST_CASE_FIXTURE(SlabSharingFixture,
                  "slab sharing: an update to larger transients grows the slab, trimmed or not, or "
                  "moves to another slab") {
  const auto narrow = sharing_pool({}, bytes_of(3));
  Sharer changing = sharer(1, 5, narrow), staying = sharer(1, 6, narrow);
  check_runs(changing, 1, queue);
  const auto update = [&](unsigned transients) {
    CommandBuffer cmd = recording({.label = "small"});
    record(cmd, transients, changing.value, changing.out);
    cmd.end();
    CHECK(changing.graph.update(cmd).done());
  };
  // Queued replays keep the previous commands.
  static_cast<void>(changing.graph.launch(queue));
  update(2);
  check_runs(changing, 2, other);
  check_runs(staying, 1, queue);
  device.wait_idle();
  CHECK(narrow->statistics().mapped == bytes_of(2));
  CHECK(narrow->trim().slabs == 1);
  update(3);
  check_runs(staying, 1, queue);
  check_runs(changing, 3, queue);
  device.wait_idle();
  CHECK(narrow->statistics().shared_slabs == 1);
  CHECK(narrow->statistics().mapped == bytes_of(3));
  update(4);
  check_runs(changing, 4, queue);
  check_runs(staying, 1, queue);
  device.wait_idle();
  CHECK(narrow->statistics().shared_slabs == 2);
  CHECK(narrow->statistics().sharers == 2);
  CHECK(narrow->trim().slabs == 2);
  check_runs(changing, 4, queue);
  check_runs(staying, 1, other);
  CHECK(narrow->statistics().mapped == bytes_of(1) + bytes_of(4));
}

TEST_CASE_FIXTURE(SlabSharingFixture, "slab sharing: tuning candidates use the same slab") {
  Sharer tuned = sharer(3, 5, step), neighbour = sharer(1, 6, step);
  check_runs(neighbour, 1, other);
  static_cast<void>(tuned.graph.tune(queue, {.contents = TuneDesc::Contents::Repeatable,
                                             .pairs = 9,
                                             .budget = std::chrono::milliseconds(300)}));
  CHECK(step->statistics().shared_slabs == 1);
  CHECK(step->statistics().slabs == 1);
  check_runs(tuned, 3, queue);
  check_runs(neighbour, 1, other);
  device.wait_idle();
  CHECK(step->statistics().sharers == 2);
  CHECK(step->trim().slabs == 1);
  check_runs(tuned, 3, other);
}

TEST_CASE_FIXTURE(SlabSharingFixture,
                  "slab sharing: launches, trims, compiles and updates from several threads") {
  Sharer one = sharer(1, 5, step), two = sharer(2, 6, step);
  constexpr int kRoundsEach = 25;
  const auto launches = [&](Sharer& sharer, const Queue& on) {
    for (int i = 0; i < kRoundsEach; ++i) static_cast<void>(sharer.graph.launch(on));
  };
  std::thread left([&] { launches(one, queue); }), right([&] { launches(two, other); });
  std::thread trims([&] {
    for (int i = 0; i < kRoundsEach; ++i) static_cast<void>(device.trim());
  });
  for (int i = 0; i < 5; ++i) {
    Sharer passing = sharer(i % 2 == 0 ? 3 : 1, 7, step);
    static_cast<void>(passing.graph.launch(queue));
  }
  left.join();
  right.join();
  trims.join();
  device.wait_idle();
  CHECK(values(one.out) == expected(1, 5));
  CHECK(values(two.out) == expected(2, 6));
  CHECK(step->statistics().sharers == 2);
  CHECK(step->statistics().shared_slabs == 1);
}

}  // namespace reprise::test::slab_sharing_test
