#include <algorithm>

#include "conformance/device_fixture.hpp"
#include "grid_wide.shaders.hpp"

namespace reprise::test::launch_modes_test {

TEST_CASE_FIXTURE(
    DeviceFixture,
    "cooperative: all blocks are resident together, or validation refuses the launch") {
  const std::uint32_t at_once = device.info().limits.max_cooperative_blocks;
  const unsigned grid = at_once == 0 ? 4 : std::min<std::uint32_t>(at_once, 16);
  const auto arrived = buffer(std::vector<unsigned>{0}, "arrived");
  const auto seen = buffer(std::vector<unsigned>(grid, 0), "seen");
  CommandBuffer cmd = recording();
  cmd.dispatch(kernel(shaders::conf_meet_all),
               {.grid = grid, .block = 32, .launch = DispatchDesc::Launch::Cooperative},
               read_write(arrived), write(seen));
  cmd.end();
  if (at_once == 0) {
    check_refused(ErrorCode::Unsupported, {"conf_meet_all", "cooperative"},
                  [&] { static_cast<void>(device.compile(cmd)); });
    return;
  }
  run(cmd);
  CHECK(values(seen) == std::vector<unsigned>(grid, grid));
}

TEST_CASE_FIXTURE(DeviceFixture, "cooperative: more blocks than can be resident are refused") {
  const std::uint32_t at_once = device.info().limits.max_cooperative_blocks;
  const auto arrived = buffer(std::vector<unsigned>{0}, "arrived");
  const auto seen = pool->allocate<unsigned>(1, "seen");
  CommandBuffer cmd = recording();
  cmd.dispatch(kernel(shaders::conf_meet_all),
               {.grid = at_once + 1, .block = 32, .launch = DispatchDesc::Launch::Cooperative},
               read_write(arrived), write(seen));
  cmd.end();
  check_refused(at_once == 0 ? ErrorCode::Unsupported : ErrorCode::LaunchLimits, {"conf_meet_all"},
                [&] { static_cast<void>(device.compile(cmd)); });
}

TEST_CASE_FIXTURE(
    DeviceFixture,
    "cluster: blocks run in clusters of the requested size, or validation refuses the launch") {
  const auto out = buffer(std::vector<unsigned>(8, 0), "out");
  CommandBuffer cmd = recording();
  cmd.dispatch(kernel(shaders::conf_cluster_size), {.grid = 8, .block = 32, .cluster = 4},
               write(out));
  cmd.end();
  if (device.info().limits.max_cluster_blocks == 0) {
    check_refused(ErrorCode::Unsupported, {"conf_cluster_size", "cluster"},
                  [&] { static_cast<void>(device.compile(cmd)); });
    return;
  }
  run(cmd);
  CHECK(values(out) == std::vector<unsigned>(8, 4));
}

TEST_CASE_FIXTURE(DeviceFixture,
                  "cluster: a size that is too large or does not divide the grid is refused") {
  const std::uint32_t max_blocks = device.info().limits.max_cluster_blocks;
  const auto out = pool->allocate<unsigned>(8, "out");
  const auto refused = [&](Dim3 grid, Dim3 cluster) {
    CommandBuffer cmd = recording();
    cmd.dispatch(kernel(shaders::conf_cluster_size),
                 {.grid = grid, .block = 32, .cluster = cluster}, write(out));
    cmd.end();
    check_refused(max_blocks == 0 ? ErrorCode::Unsupported : ErrorCode::LaunchLimits,
                  {"conf_cluster_size"}, [&] { static_cast<void>(device.compile(cmd)); });
  };
  refused(2 * (max_blocks + 1), max_blocks + 1);
  refused(7, 2);
  refused(8, {2, 0, 1});
}

}  // namespace reprise::test::launch_modes_test
