#include <algorithm>

#include "conformance/device_fixture.hpp"
#include "words.shaders.hpp"

namespace reprise::test::barrier_test {
namespace {

constexpr unsigned kCount = 4096;
constexpr DispatchDesc kWords{.grid = kCount / 256, .block = 256};

}  // namespace

TEST_CASE_FIXTURE(
    DeviceFixture,
    "barrier: under Explicit, a chain with a barrier at each step gives the recorded order") {
  const auto x = buffer(std::vector<unsigned>(kCount, 1), "x");
  const auto y = pool->allocate<unsigned>(kCount, "y");
  const Kernel add = kernel(shaders::conf_add);
  CommandBuffer cmd = recording({.ordering = Ordering::Explicit});
  for (unsigned step = 0; step < 20; ++step) {
    cmd.dispatch(add, kWords, read(x), write(y), step, kCount);
    cmd.barrier({.buffer = y, .before = Access::Write, .after = Access::Read});
    cmd.barrier({.buffer = x, .before = Access::Read, .after = Access::Write});
    cmd.copy(y, x);
    cmd.barrier();
  }
  run(cmd);
  CHECK(values(x) == std::vector<unsigned>(kCount, 1 + 19 * 20 / 2));
}

TEST_CASE_FIXTURE(DeviceFixture,
                  "barrier: under Explicit, a missing barrier is an error that names both "
                  "commands, the range and the fix") {
  const auto x = pool->allocate<unsigned>(kCount, "x");
  const auto y = pool->allocate<unsigned>(kCount, "y");
  CommandBuffer cmd = recording({.label = "step", .ordering = Ordering::Explicit});
  {
    auto scope = cmd.label("producer");
    cmd.dispatch(kernel(shaders::conf_set), kWords, write(x), 1u, kCount);
  }
  {
    auto scope = cmd.label("consumer");
    cmd.copy(x.slice(16, 16), y.slice(0, 16));
  }
  cmd.end();
  const Error error = thrown_by([&] { static_cast<void>(device.compile(cmd)); });
  CHECK(error.code() == ErrorCode::MissingBarrier);
  CHECK(error.details().command == 1);
  CHECK_FALSE(error.details().message_id.empty());
  const std::string text = error.what();
  for (const char* part :
       {"conf_set", "copy x -> y", "producer", "consumer", "barrier_test.cpp", "64", "128"}) {
    INFO("text: ", text);
    INFO("part: ", std::string(part));
    CHECK(text.find(part) != std::string::npos);
  }
}

TEST_CASE_FIXTURE(DeviceFixture,
                  "barrier: under Explicit, commands on disjoint halves need no barrier") {
  const auto x = pool->allocate<unsigned>(kCount, "x");
  CommandBuffer cmd = recording({.ordering = Ordering::Explicit});
  cmd.fill(x.slice(0, kCount / 2), 1u);
  cmd.fill(x.slice(kCount / 2, kCount / 2), 2u);
  run(cmd);
  const auto found = values(x);
  CHECK(found.front() == 1);
  CHECK(found.back() == 2);
}

TEST_CASE_FIXTURE(
    DeviceFixture,
    "barrier: a redundant barrier is a warning, in the message handler and in the report") {
  const auto x = pool->allocate<unsigned>(kCount, "x");
  CommandBuffer cmd = recording({.ordering = Ordering::Explicit});
  cmd.barrier();
  cmd.fill(x, 1u);
  CapturedGraph graph = compile(cmd);
  REQUIRE_FALSE(graph.report().messages.empty());
  CHECK(graph.report().messages[0].severity == Severity::Warning);
  REQUIRE_FALSE(messages->empty());
  CHECK(messages->front() == graph.report().messages[0].id);
}

TEST_CASE_FIXTURE(DeviceFixture,
                  "barrier: a global barrier between many commands becomes one join node") {
  constexpr std::uint32_t kWide = 40;
  std::vector<GpuRef<unsigned>> parts;
  for (std::uint32_t i = 0; i < kWide; ++i) parts.push_back(pool->allocate<unsigned>(256, "part"));
  const Kernel add = kernel(shaders::conf_add);
  CommandBuffer cmd = recording({.ordering = Ordering::Explicit});
  for (std::uint32_t i = 0; i < kWide; ++i) cmd.fill(parts[i], i);
  cmd.barrier();
  for (std::uint32_t i = 0; i < kWide; ++i) {
    cmd.dispatch(add, {.grid = 1, .block = 256}, read(parts[(i + 1) % kWide].slice(0, 128)),
                 write(parts[i].slice(128, 128)), 100u, 128u);
  }
  run(cmd);
  for (std::uint32_t i = 0; i < kWide; ++i) {
    const auto found = values(parts[i]);
    CHECK(found[0] == i);
    CHECK(found[255] == (i + 1) % kWide + 100);
  }
}

}  // namespace reprise::test::barrier_test
