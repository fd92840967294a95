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
