// Values uploaded to variables in constant memory.
#include <constants.shaders.hpp>
#include <numeric>

#include "conformance/device_fixture.hpp"

namespace reprise::test::constants_test {
namespace {

struct Ramp {
  float slope, offset;
};

std::vector<int> counted_from(int first) {
  std::vector<int> values(64);
  std::iota(values.begin(), values.end(), first);
  return values;
}

}  // namespace

TEST_CASE_FIXTURE(DeviceFixture, "constants: kernels read what an earlier launch uploaded") {
  const GpuRef<int> table = device.constant<int>(shaders::table);
  REQUIRE(table.size() == 64);
  const auto out = pool->allocate<int>(64, "out");
  for (const int first : {5, 1000}) {
    run([&](CommandBuffer& cmd) { cmd.copy(snapshot(counted_from(first)), table); });
    run([&](CommandBuffer& cmd) {
      cmd.dispatch(kernel(shaders::read_table), {.grid = 1, .block = 64}, write(out));
    });
    CHECK(values(out) == counted_from(first));
  }
  CHECK(values(table) == counted_from(1000));
}

TEST_CASE_FIXTURE(DeviceFixture,
                  "constants: a replay uploads a part and a structure, and a barrier orders its "
                  "kernels behind them") {
  const GpuRef<int> table = device.constant<int>(shaders::table);
  const auto ramp = device.constant<Ramp>(shaders::ramp);
  REQUIRE(ramp.size() == 1);
  const auto source = buffer(counted_from(0), "source");
  const auto out = pool->allocate<int>(64, "out");
  const auto x = buffer(std::vector<float>{0, 1, 2, 3}, "x");
  const auto y = pool->allocate<float>(4, "y");
  CommandBuffer cmd = recording();
  const Ramp value{2, 10};
  cmd.fill(table, -1);
  cmd.copy(source.slice(8, 4), table.slice(4, 4));
  cmd.update(ramp, std::as_bytes(std::span(&value, 1)));
  cmd.barrier();
  cmd.dispatch(kernel(shaders::read_table), {.grid = 1, .block = 64}, write(out));
  cmd.dispatch(kernel(shaders::on_ramp), {.grid = 1, .block = 4}, read(x), write(y));
  CapturedGraph graph = compile(cmd);
  std::vector<int> expected(64, -1);
  std::iota(expected.begin() + 4, expected.begin() + 8, 8);
  for (int replay = 0; replay < 3; ++replay) {
    graph.launch(queue).wait();
    CHECK(values(out) == expected);
    CHECK(values(y) == std::vector<float>{10.5f, 12.5f, 14.5f, 16.5f});
  }
}

TEST_CASE_FIXTURE(DeviceFixture, "constants: the type is checked, and all callers get one buffer") {
  const GpuRef<int> table = device.constant<int>(shaders::table);
  CHECK(table.overlaps(device.constant<int>(shaders::table)));
  check_refused(ErrorCode::ArgumentType, {"constant table has values of type int, not float"},
                [&] { static_cast<void>(device.constant<float>(shaders::table)); });
  check_refused(ErrorCode::NotInitialized, {"constant"},
                [&] { static_cast<void>(Device().constant<int>(shaders::table)); });
}

TEST_CASE_FIXTURE(DeviceFixture, "constants: one that only nvcc sees exists on GPUs only") {
  if (is_host()) {
    return check_refused(ErrorCode::KernelNotFound,
                         {"constant gpu_only_bias of ", "constants.cu exists on GPUs only"},
                         [&] { static_cast<void>(device.constant<int>(shaders::gpu_only_bias)); });
  }
  const auto x = buffer(std::vector<int>{1, 2}, "x");
  run([&](CommandBuffer& cmd) { cmd.fill(device.constant<int>(shaders::gpu_only_bias), 40); });
  run([&](CommandBuffer& cmd) {
    cmd.dispatch(kernel(shaders::add_gpu_only_bias), {.grid = 1, .block = 2}, read_write(x));
  });
  CHECK(values(x) == std::vector<int>{41, 42});
}

}  // namespace reprise::test::constants_test
