#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "conformance/device_fixture.hpp"
#include "words.shaders.hpp"

using namespace reprise;
using namespace reprise::test;

namespace {

constexpr unsigned kCount = 256, kWays = 12, kRounds = 3;
constexpr DispatchDesc kWords{.grid = 2, .block = 128};
constexpr std::chrono::seconds kHang{60};

unsigned mixed(unsigned io, unsigned in, unsigned salt) { return io * 1664525u + (in ^ salt) + 1013904223u; }

// Ways that run beside each other and join, round by round, and what comes of it.
struct Ways {
  explicit Ways(const DeviceFixture& on) : sum(on.buffer(std::vector<unsigned>(kCount, 7), "sum")) {
    for (unsigned i = 0; i < kWays; ++i) {
      ways.push_back(on.buffer(std::vector<unsigned>(kCount, i), "way"));
      expected.push_back(i);
    }
  }
  // Each way is given `salt` in the last round.
  void record(const DeviceFixture& on, CommandBuffer& cmd) const {
    const Kernel mix = on.kernel(shaders::conf_mix);
    for (unsigned round = 0; round < kRounds; ++round) {
      for (const auto& way : ways) {
        round + 1 == kRounds ? cmd.dispatch(mix, kWords, read(sum), read_write(way), slot("salt", 0u), kCount)
                             : cmd.dispatch(mix, kWords, read(sum), read_write(way), round, kCount);
      }
      for (const auto& way : ways) cmd.dispatch(mix, kWords, read(way), read_write(sum), round, kCount);
    }
  }
  void expect_replay(unsigned salt) {
    for (unsigned round = 0; round < kRounds; ++round) {
      for (unsigned& way : expected) way = mixed(way, total, round + 1 == kRounds ? salt : round);
      for (const unsigned way : expected) total = mixed(total, way, round);
    }
  }
  void check(const DeviceFixture& on) const {
    CHECK(on.values(sum) == std::vector<unsigned>(kCount, total));
    for (unsigned i = 0; i < kWays; ++i) CHECK(on.values(ways[i]) == std::vector<unsigned>(kCount, expected[i]));
  }

  GpuRef<unsigned> sum;
  std::vector<GpuRef<unsigned>> ways;
  std::vector<unsigned> expected;
  unsigned total = 7;
};

bool is_over(const CapturedGraph& graph) { return graph.online_tuning().state == OnlineTuningReport::State::Over; }

}  // namespace

TEST_CASE_FIXTURE(DeviceFixture, "online tuning: every replay does what it did, and values that are set meanwhile reach whatever runs") {
  Ways all(*this);
  CommandBuffer cmd = recording();
  all.record(*this, cmd);
  cmd.end();
  CapturedGraph graph = device.compile(cmd, {.pool = pool, .tuning = TuningMode::Online});
  const auto salt = graph.scalar<unsigned>("salt");
  const auto until = std::chrono::steady_clock::now() + kHang;
  std::uint64_t replays = 0;
  for (; !is_over(graph) && std::chrono::steady_clock::now() < until; ++replays) {
    const auto value = static_cast<unsigned>(replays / 3);
    salt.set(value);
    graph.launch(queue).wait();
    all.expect_replay(value);
    if (replays % 256 == 255) all.check(*this);
  }
  REQUIRE(is_over(graph));
  for (unsigned i = 0; i < 3; ++i) {
    salt.set(i);
    graph.launch(queue);
    queue.wait_idle();
    all.expect_replay(i);
  }
  all.check(*this);
  CHECK(graph.num_replays() == replays + 3);
  const OnlineTuningReport report = graph.online_tuning();
  INFO("reason: ", report.reason);
  CHECK(report.tries.size() <= 2);
  CHECK(report.before.launches >= 128);
  CHECK(report.before.p99_us > 0);
  CHECK(report.meanwhile.p99_us > 0);
  for (const OnlineTry& tried : report.tries) {
    const std::string outcome = tried.kept ? "kept" : tried.reason;
    MESSAGE(tried.name, ": ", tried.ratio, " (", tried.ratio_low, " to ", tried.ratio_high, "), ", outcome);
    if (tried.kept) CHECK(tried.ratio_high < 1);
  }
  MESSAGE("p99 of launches: ", report.before.p99_us, " us before, ", report.meanwhile.p99_us, " us meanwhile");
}

TEST_CASE_FIXTURE(DeviceFixture, "online tuning: what is bound and switched off meanwhile holds for whatever runs") {
  const auto x = buffer(std::vector<unsigned>(kCount, 1), "x"), y = buffer(std::vector<unsigned>(kCount, 2), "y"),
             other = buffer(std::vector<unsigned>(kCount, 3), "other");
  std::vector<GpuRef<unsigned>> beside;
  CommandBuffer cmd = recording();
  for (unsigned i = 0; i < kWays; ++i) {
    beside.push_back(pool->allocate<unsigned>(kCount, "beside"));
    cmd.dispatch(kernel(shaders::conf_set), kWords, write(beside.back()), i, kCount);
  }
  cmd.dispatch(kernel(shaders::conf_set), kWords, write(x), 20u, kCount);
  const CommandRef off = cmd.fill(x, 99u);
  cmd.dispatch(kernel(shaders::conf_add), kWords, read(x), write(y), 1u, kCount);
  cmd.end();
  CapturedGraph graph = device.compile(cmd, {.pool = pool, .tuning = TuningMode::Online});
  const auto until = std::chrono::steady_clock::now() + kHang;
  bool to_other = false, is_off = false;
  for (unsigned replays = 0; !is_over(graph) && std::chrono::steady_clock::now() < until; ++replays) {
    if (replays % 7 == 6) {
      to_other = !to_other;
      REQUIRE(graph.rebind(y, to_other ? other : y).rung == UpdateRung::Nodes);
    }
    if (replays % 5 == 4) {
      is_off = !is_off;
      is_off ? graph.disable(off) : graph.enable(off);
    }
    graph.launch(queue).wait();
    if (replays % 64 == 63) CHECK(values(to_other ? other : y) == std::vector<unsigned>(kCount, is_off ? 21 : 100));
  }
  REQUIRE(is_over(graph));
  CHECK(graph.online_tuning().reason.find("could not be passed on") == std::string::npos);
  CHECK(graph.is_enabled(off) != is_off);
  graph.launch(queue).wait();
  CHECK(values(to_other ? other : y) == std::vector<unsigned>(kCount, is_off ? 21 : 100));
}

TEST_CASE_FIXTURE(DeviceFixture, "online tuning: threads that launch and set values beside it") {
  Ways all(*this);
  CommandBuffer cmd = recording();
  all.record(*this, cmd);
  cmd.end();
  CapturedGraph graph = device.compile(cmd, {.pool = pool, .tuning = TuningMode::Online});
  const auto salt = graph.scalar<unsigned>("salt");
  const auto until = std::chrono::steady_clock::now() + kHang;
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      const Queue own = device.create_queue({.label = "own"});
      for (unsigned i = 0; !is_over(graph) && std::chrono::steady_clock::now() < until; ++i) {
        if (t == 0) salt.set(i);
        graph.launch(own).wait();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(is_over(graph));
}
