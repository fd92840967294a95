#include <algorithm>

#include "conformance/device_fixture.hpp"
#include "words.shaders.hpp"

namespace reprise::test::transient_test {
namespace {

constexpr unsigned kCount = 1024;
constexpr DispatchDesc kWords{.grid = kCount / 256, .block = 256};

}  // namespace

TEST_CASE_FIXTURE(DeviceFixture,
                  "transient: a chain of transients shares bytes and keeps contents while in use") {
  constexpr unsigned kLinks = 32;
  const auto x = buffer(std::vector<unsigned>(kCount, 1), "x");
  const Kernel add = kernel(shaders::conf_add);
  CommandBuffer cmd = recording();
  GpuRef<unsigned> last = x;
  for (unsigned i = 0; i < kLinks; ++i) {
    auto next = pool->transient<unsigned>(kCount, "link");
    cmd.dispatch(add, kWords, read(last), write(next), i, kCount);
    last = next;
  }
  cmd.copy(last, x);
  CapturedGraph graph = compile(cmd);
  const CompileReport& report = graph.report();
  CHECK(report.transient_bytes == std::uint64_t{kLinks} * kCount * 4);
  CHECK(report.slab_bytes >= report.slab_lower_bound);
  CHECK(report.slab_bytes <= report.transient_bytes / 4);  // two transients live at a time
  unsigned expected = 1;
  for (int replay = 0; replay < 3; ++replay) {
    graph.launch(queue).wait();
    expected += kLinks * (kLinks - 1) / 2;
    CHECK(values(x) == std::vector<unsigned>(kCount, expected));
  }
}

TEST_CASE_FIXTURE(DeviceFixture, "transient: transients of concurrent branches never share bytes") {
  constexpr unsigned kBranches = 12, kRounds = 2000;
  const Kernel set = kernel(shaders::conf_set), churn = kernel(shaders::conf_churn);
  const auto out = pool->allocate<unsigned>(kBranches * kCount, "out");
  CommandBuffer cmd = recording();
  for (unsigned b = 0; b < kBranches; ++b) {
    const auto t = pool->transient<unsigned>(kCount, "branch");
    cmd.dispatch(set, kWords, write(t), b, kCount);
    cmd.dispatch(churn, kWords, read_write(t), kRounds, kCount);
    cmd.copy(t, out.slice(b * kCount, kCount));
  }
  for (const Lowering lowering : {Lowering::Faithful, Lowering::Auto, Lowering::Lanes(3)}) {
    run(cmd, lowering);
    const auto found = values(out);
    for (unsigned b = 0; b < kBranches; ++b) {
      unsigned expected = b;
      for (unsigned r = 0; r < kRounds; ++r) expected = expected * 1664525u + 1013904223u;
      const auto first = found.begin() + static_cast<std::ptrdiff_t>(b * kCount);
      CHECK(std::all_of(first, first + kCount, [expected](unsigned v) { return v == expected; }));
    }
  }
}

TEST_CASE_FIXTURE(DeviceFixture, "transient: sizes and alignments of many kinds") {
  std::vector<GpuRef<std::uint8_t>> small;
  const auto big = pool->transient<double>(3001, "big");
  const auto out = pool->host<std::uint8_t>(40, "out");
  CommandBuffer cmd = recording();
  for (unsigned i = 0; i < 40; ++i) {
    small.push_back(pool->transient<std::uint8_t>(1 + i * 37, "small"));
    cmd.fill(small.back(), static_cast<std::uint8_t>(i + 1));
  }
  cmd.fill(big.as<unsigned>(), 0xffffffffu);
  for (unsigned i = 0; i < 40; ++i) cmd.copy(small[i].slice(i * 37, 1), out.slice(i, 1));
  run(cmd);
  for (unsigned i = 0; i < 40; ++i) REQUIRE(out[i] == i + 1);
}

TEST_CASE_FIXTURE(DeviceFixture,
                  "transient: it has no address, and reading it before a write is a warning") {
  const auto t = pool->transient<unsigned>(16, "t");
  const auto x = pool->allocate<unsigned>(16, "x");
  check_refused(ErrorCode::Unsupported, {"t", "transient"}, [&] { static_cast<void>(t.data()); });
  CommandBuffer cmd = recording();
  cmd.copy(t, x);
  CapturedGraph graph = compile(cmd);
  REQUIRE(graph.report().messages.size() == 1);
  CHECK(graph.report().messages[0].severity == Severity::Warning);
}

TEST_CASE_FIXTURE(DeviceFixture, "transient: two graphs place the same transient independently") {
  const auto t = pool->transient<unsigned>(kCount, "t");
  const auto x = pool->allocate<unsigned>(kCount, "x"), y = pool->allocate<unsigned>(kCount, "y");
  const auto record = [&](const GpuRef<unsigned>& to, unsigned value) {
    CommandBuffer cmd = recording();
    cmd.dispatch(kernel(shaders::conf_set), kWords, write(t), value, kCount);
    cmd.dispatch(kernel(shaders::conf_churn), kWords, read_write(t), 500u, kCount);
    cmd.copy(t, to);
    return compile(cmd);
  };
  CapturedGraph a = record(x, 1), b = record(y, 2);
  Queue other = device.create_queue();
  static_cast<void>(a.launch(queue));
  static_cast<void>(b.launch(other));
  queue.wait_idle();
  other.wait_idle();
  unsigned one = 1, two = 2;
  for (int r = 0; r < 500; ++r) {
    one = one * 1664525u + 1013904223u;
    two = two * 1664525u + 1013904223u;
  }
  CHECK(values(x) == std::vector<unsigned>(kCount, one));
  CHECK(values(y) == std::vector<unsigned>(kCount, two));
}

TEST_CASE_FIXTURE(DeviceFixture,
                  "transient: graphs that share a slab are serialised across queues") {
  const auto sharing = device.create_pool({.label = "sharing", .sharing = SlabSharing::OneAtATime});
  const auto t = sharing->transient<unsigned>(kCount, "t");
  const auto x = pool->allocate<unsigned>(kCount, "x"), y = pool->allocate<unsigned>(kCount, "y");
  const auto record = [&](const GpuRef<unsigned>& to, unsigned value) {
    CommandBuffer cmd = recording();
    cmd.dispatch(kernel(shaders::conf_set), kWords, write(t), value, kCount);
    cmd.dispatch(kernel(shaders::conf_churn), kWords, read_write(t), 500u, kCount);
    cmd.copy(t, to);
    cmd.end();
    return device.compile(cmd, {.pool = sharing});
  };
  CapturedGraph a = record(x, 1), b = record(y, 2);
  Queue other = device.create_queue();
  unsigned one = 1, two = 2;
  for (int r = 0; r < 500; ++r) {
    one = one * 1664525u + 1013904223u;
    two = two * 1664525u + 1013904223u;
  }
  for (int round = 0; round < 5; ++round) {
    run([&](CommandBuffer& cmd) {
      cmd.fill(x, 0u);
      cmd.fill(y, 0u);
    });
    static_cast<void>(a.launch(queue));
    static_cast<void>(b.launch(other));
    device.wait_idle();
    CHECK(values(x) == std::vector<unsigned>(kCount, one));
    CHECK(values(y) == std::vector<unsigned>(kCount, two));
  }
}

TEST_CASE_FIXTURE(DeviceFixture,
                  "transient: sizes that cannot be rounded or summed are OutOfMemory") {
  constexpr std::uint64_t kMax = ~std::uint64_t{0}, kHalf = std::uint64_t{1} << 63;
  const std::vector<std::vector<std::uint64_t>> lists = {
      {kMax},
      {kMax - 255},
      {kHalf},
      {kHalf, kHalf},
      {kHalf, kHalf, 64},
      {kMax, 1},
      {1, 2, kMax - 3},
      {std::uint64_t{1} << 62, std::uint64_t{1} << 62}};
  for (const auto& sizes : lists) {
    for (const Lowering lowering : {Lowering::Auto, Lowering::Faithful, Lowering::Lanes(2)}) {
      CommandBuffer cmd = recording({.label = "too large"});
      std::vector<GpuRef<std::uint8_t>> transients;
      for (const std::uint64_t bytes : sizes)
        transients.push_back(pool->transient<std::uint8_t>(bytes, "t"));
      for (const auto& t : transients) cmd.fill(t.slice(0, 1), 1);
      for (const auto& t : transients) cmd.fill(t.slice(t.size() - 1, 1), 2);
      cmd.end();
      check_refused(ErrorCode::OutOfMemory, {"too large"}, [&] {
        static_cast<void>(device.compile(cmd, {.pool = pool, .lowering = lowering}));
      });
    }
  }
  const auto small = pool->transient<unsigned>(16, "small");  // the device remains usable
  const auto x = pool->allocate<unsigned>(16, "x");
  run([&](CommandBuffer& cmd) {
    cmd.fill(small, 3u);
    cmd.copy(small, x);
  });
  CHECK(values(x) == std::vector<unsigned>(16, 3));
}

TEST_CASE_FIXTURE(DeviceFixture, "transient: a size of 2^64 bytes or more is OutOfMemory") {
  check_refused(ErrorCode::OutOfMemory, {"huge"}, [&] {
    static_cast<void>(pool->transient<unsigned>(~std::uint64_t{0} / 4 + 1, "huge"));
  });
}

}  // namespace reprise::test::transient_test
