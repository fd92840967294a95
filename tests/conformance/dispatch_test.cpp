#include <array>

#include "conformance/device_fixture.hpp"
#include "grids.shaders.hpp"
#include "words.shaders.hpp"

namespace reprise::test::dispatch_test {
namespace {

struct ConfPair {
  double scale;
  int shift;
};

void check_positions(const DeviceFixture& f, Dim3 grid, Dim3 block) {
  const Dim3 size(grid.x * block.x, grid.y * block.y, grid.z * block.z);
  const auto out = f.pool->allocate<unsigned>(size.volume(), "out");
  f.run([&](CommandBuffer& cmd) {
    cmd.dispatch(f.kernel(shaders::conf_positions), {.grid = grid, .block = block}, write(out));
  });
  const auto found = f.values(out);
  std::size_t i = 0;
  bool all_right = true;
  for (unsigned z = 0; z < size.z; ++z)
    for (unsigned y = 0; y < size.y; ++y)
      for (unsigned x = 0; x < size.x; ++x)
        all_right = all_right && found[i++] == ((x << 20) | (y << 10) | z);
  CHECK(all_right);
}

}  // namespace

TEST_CASE_FIXTURE(DeviceFixture,
                  "dispatch: every thread of a 1D, 2D and 3D grid runs once with its own indices") {
  check_positions(*this, 1, 1);
  check_positions(*this, 37, 64);
  check_positions(*this, {5, 3}, {32, 4});
  check_positions(*this, {3, 4, 5}, {4, 2, 8});
  check_positions(*this, {1, 1, 7}, {1, 1, 3});
}

TEST_CASE_FIXTURE(DeviceFixture, "dispatch: a grid larger than the data writes nothing else") {
  const auto x = buffer(std::vector<unsigned>(1000, 5), "x");
  run([&](CommandBuffer& cmd) {
    cmd.dispatch(kernel(shaders::conf_count), {.grid = ceil_div(900, 256), .block = 256},
                 read_write(x.slice(0, 900)), 900u);
  });
  const auto found = values(x);
  for (std::size_t i = 0; i < found.size(); ++i) REQUIRE(found[i] == (i < 900 ? 6 : 5));
}

TEST_CASE_FIXTURE(DeviceFixture, "dispatch: parameters of every size reach the kernel") {
  const auto out = pool->allocate<double>(7, "out");
  const auto in = buffer(std::vector<int>{-12}, "in");
  run([&](CommandBuffer& cmd) {
    cmd.dispatch(kernel(shaders::conf_parameters), {}, static_cast<signed char>(-3), write(out),
                 static_cast<short>(-300), ConfPair{1.5, -7}, read(in), 0.25f, 1ull << 40);
  });
  CHECK(values(out) ==
        std::vector<double>{-3, -300, 1.5, -7, -12, 0.25, static_cast<double>(1ull << 40)});
}

TEST_CASE_FIXTURE(DeviceFixture, "dispatch: a slice argument points to its first element") {
  const auto x = buffer(std::vector<unsigned>(64, 0), "x");
  run([&](CommandBuffer& cmd) {
    cmd.dispatch(kernel(shaders::conf_count), {.grid = 1, .block = 32}, read_write(x.slice(20, 10)),
                 10u);
  });
  const auto found = values(x);
  for (std::size_t i = 0; i < found.size(); ++i) REQUIRE(found[i] == (i >= 20 && i < 30 ? 1 : 0));
}

TEST_CASE_FIXTURE(DeviceFixture, "dispatch: kernels access pinned memory in each replay") {
  const auto h = pool->host<unsigned>(100, "h");
  CommandBuffer cmd = recording();
  cmd.dispatch(kernel(shaders::conf_count), {.grid = 1, .block = 128}, read_write(h), 100u);
  CapturedGraph graph = compile(cmd);
  for (unsigned replay = 1; replay <= 3; ++replay) {
    graph.launch(queue).wait();
    CHECK(h[99] == replay * 11 - 10);
    for (unsigned& value : h.span()) value += 10;
  }
}

TEST_CASE_FIXTURE(
    DeviceFixture,
    "dispatch: unsupported launch sizes are refused with the command's name and label") {
  const auto x = pool->allocate<unsigned>(4, "x");
  const Kernel count = kernel(shaders::conf_count);
  const DeviceLimits& limits = device.info().limits;
  const auto refused = [&](ErrorCode code, const DispatchDesc& desc) {
    CommandBuffer cmd = recording({.label = "step"});
    {
      auto scope = cmd.label("forward");
      cmd.dispatch(count, desc, read_write(x), 4u);
    }
    cmd.end();
    const Error error = thrown_by([&] { static_cast<void>(device.compile(cmd)); });
    CHECK(to_string(error.code()) == to_string(code));
    CHECK(error.stage() == Stage::Validate);
    CHECK(error.details().command == 0);
    CHECK(error.details().label == "forward");
    CHECK(std::string(error.what()).find("conf_count") != std::string::npos);
  };
  refused(ErrorCode::LaunchLimits, {.grid = {0, 1, 1}});
  refused(ErrorCode::LaunchLimits, {.block = {1, 0, 1}});
  refused(ErrorCode::LaunchLimits, {.grid = {1, limits.max_grid.y + 1, 1}});
  refused(ErrorCode::LaunchLimits, {.grid = {1, 1, limits.max_grid.z + 1}});
  refused(ErrorCode::LaunchLimits, {.block = limits.max_block_threads + 1});
  refused(ErrorCode::LaunchLimits, {.block = {1, 1, limits.max_block.z + 1}});
  refused(ErrorCode::LaunchLimits, {.shared_bytes = limits.max_shared_bytes + 1});
}

TEST_CASE_FIXTURE(DeviceFixture, "dispatch: numbers convert if the parameter represents them") {
  const auto out = pool->allocate<double>(7, "out");
  const auto in = buffer(std::vector<int>{-12}, "in");
  run([&](CommandBuffer& cmd) {
    cmd.dispatch(kernel(shaders::conf_parameters), {}, -3, write(out), -300.0f, ConfPair{1.5, -7},
                 read(in), 0.25, 5);
  });
  CHECK(values(out) == std::vector<double>{-3, -300, 1.5, -7, -12, 0.25, 5});
}

TEST_CASE(
    "dispatch: without validation, a grid of no blocks is refused when the graph is compiled") {
  Instance unchecked({.validation = Validation::Off});
  Device device = unchecked.open_device(selector_of_this_run());
  const auto pool = device.create_pool();
  const auto out = pool->allocate<unsigned>(64, "out");
  CommandBuffer cmd = device.create_command_buffer();
  cmd.begin();
  cmd.dispatch(device.load_kernel(shaders::conf_positions), {.grid = ceil_div(0, 64), .block = 64},
               write(out));
  cmd.end();
  const Error refused = thrown_by([&] { static_cast<void>(device.compile(cmd, {.pool = pool})); });
  CHECK(refused.details().command == 0);
  CHECK(ceil_div(64, 0) == 0);
}

TEST_CASE("dispatch: more blocks than a grid holds are refused at every validation level") {
  static_assert(ceil_div(std::uint64_t{1} << 32, 1) == 0xffffffffu);
  static_assert(ceil_div((std::uint64_t{1} << 34) + 5, 4) == 0xffffffffu);
  static_assert(ceil_div(~std::uint64_t{0}, 1) == 0xffffffffu);
  static_assert(ceil_div(0xffffffffu, 1) == 0xffffffffu);
  static_assert(ceil_div((std::uint64_t{1} << 34) - 4, 4) == 0xffffffffu);
  static_assert(ceil_div((std::uint64_t{1} << 40) + 1, 1u << 31) == 513);
  static_assert(Dim3(1u << 31, 1u << 31, 4).volume() == ~std::uint64_t{0});
  static_assert(Dim3(1u << 31, 1u << 31, 3).volume() == std::uint64_t{3} << 62);
  for (const Validation level : {Validation::Off, Validation::Basic, Validation::Full}) {
    Instance instance({.validation = level});
    Device device = instance.open_device(selector_of_this_run());
    const auto pool = device.create_pool();
    const auto out = pool->allocate<unsigned>(64, "out");
    for (const Dim3 grid :
         {Dim3(ceil_div((std::uint64_t{1} << 34) + 5, 4)), Dim3(1, 65536), Dim3(1, 1, 65536)}) {
      CommandBuffer cmd = device.create_command_buffer();
      cmd.begin();
      cmd.dispatch(device.load_kernel(shaders::conf_positions), {.grid = grid, .block = 4},
                   write(out));
      cmd.end();
      const Error refused =
          thrown_by([&] { static_cast<void>(device.compile(cmd, {.pool = pool})); });
      CHECK(refused.details().command == 0);
      if (level == Validation::Off) continue;
      CHECK(to_string(refused.code()) == to_string(ErrorCode::LaunchLimits));
      CHECK(std::string(refused.what()).find("larger than the device's") != std::string::npos);
    }
  }
}

}  // namespace reprise::test::dispatch_test
