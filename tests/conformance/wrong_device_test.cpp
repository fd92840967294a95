#include "conformance/device_fixture.hpp"
#include "words.shaders.hpp"

namespace reprise::test::wrong_device_test {
namespace {

// The device under test opened twice, which gives two distinct devices.
struct TwoDevices : DeviceFixture {
  Device second = instance.open_device(selector_of_this_run());
  std::shared_ptr<CapturePool> second_pool = second.create_pool({.label = "foreign pool"});
  Queue second_queue = second.create_queue({.label = "foreign queue"});
  GpuRef<unsigned> own = pool->allocate<unsigned>(64, "own");
  GpuRef<unsigned> foreign = second_pool->allocate<unsigned>(64, "foreign");
};

}  // namespace

TEST_CASE_FIXTURE(TwoDevices,
                  "wrong device: buffers, kernels and secondaries of another device are refused "
                  "while recording") {
  const Kernel set = kernel(shaders::conf_set);
  const Kernel foreign_set = second.load_kernel(shaders::conf_set);
  CommandBuffer cmd = recording();
  check_refused(ErrorCode::WrongDevice, {"dispatch", "foreign"},
                [&] { cmd.dispatch(set, {}, write(foreign), 1u, 1u); });
  check_refused(ErrorCode::WrongDevice, {"dispatch", "conf_set"},
                [&] { cmd.dispatch(foreign_set, {}, write(own), 1u, 1u); });
  check_refused(ErrorCode::WrongDevice, {"copy", "foreign"}, [&] { cmd.copy(own, foreign); });
  check_refused(ErrorCode::WrongDevice, {"fill", "foreign"}, [&] { cmd.fill(foreign, 1u); });
  check_refused(ErrorCode::WrongDevice, {"barrier", "foreign"},
                [&] { cmd.barrier({.buffer = foreign}); });
  check_refused(ErrorCode::WrongDevice, {"host", "foreign"},
                [&] { cmd.host([] {}, {read(foreign)}); });
  CommandBuffer secondary =
      second.create_command_buffer({.label = "foreign secondary", .level = Level::Secondary});
  secondary.begin();
  secondary.end();
  check_refused(ErrorCode::WrongDevice, {"execute", "foreign secondary"},
                [&] { cmd.execute(secondary); });
  CHECK(cmd.command_count() == 0);
}

TEST_CASE_FIXTURE(
    TwoDevices,
    "wrong device: compiling, launching, uploading and waiting across devices is refused") {
  CommandBuffer cmd = recording({.label = "step"});
  cmd.fill(own, 1u);
  cmd.end();
  check_refused(ErrorCode::WrongDevice, {"step"}, [&] { static_cast<void>(second.compile(cmd)); });
  check_refused(ErrorCode::WrongDevice, {"foreign pool"},
                [&] { static_cast<void>(device.compile(cmd, {.pool = second_pool})); });
  CapturedGraph graph = device.compile(cmd);
  check_refused(ErrorCode::WrongDevice,
                {"step of " + device.info().selector, "foreign queue of another Device of",
                 "Instance::open_device()"},
                [&] { static_cast<void>(graph.launch(second_queue)); });
  check_refused(ErrorCode::WrongDevice, {"foreign queue"}, [&] { graph.upload(second_queue); });
  CHECK(graph.num_replays() == 0);
  const Fence fence = graph.launch(queue);
  check_refused(ErrorCode::WrongDevice, {}, [&] { second_queue.wait(fence); });
  fence.wait();
  CHECK(values(own) == std::vector<unsigned>(64, 1));
}

TEST_CASE_FIXTURE(TwoDevices, "wrong device: both devices work independently") {
  CommandBuffer cmd = second.create_command_buffer();
  cmd.begin();
  const auto h = second_pool->host<unsigned>(64, "h");
  cmd.fill(foreign, 12u);
  cmd.copy(foreign, h);
  cmd.end();
  CapturedGraph graph = second.compile(cmd, {.pool = second_pool});
  const Fence fence = graph.launch(second_queue);
  run([&](CommandBuffer& here) { here.fill(own, 11u); });
  fence.wait();
  CHECK(h[63] == 12);
  CHECK(values(own) == std::vector<unsigned>(64, 11));
}

}  // namespace reprise::test::wrong_device_test
