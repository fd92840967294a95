#include "conformance/device_fixture.hpp"

namespace reprise::test::device_test {

TEST_CASE_FIXTURE(DeviceFixture, "device: info contains its name, limits and capabilities") {
  const DeviceInfo& info = device.info();
  CHECK(device);
  CHECK_FALSE(info.name.empty());
  CHECK(info.selector == selector_of_this_run().name());
  CHECK(info.memory_bytes > (std::uint64_t{1} << 28));
  CHECK(info.multiprocessors >= 1);
  CHECK(info.limits.max_block_threads >= 1024);
  CHECK(info.limits.max_grid.x >= 65535);
  CHECK(info.limits.max_shared_bytes >= 48 * 1024);
  CHECK(info.limits.max_parameter_bytes >= 4096);
  CHECK(info.limits.buffer_alignment >= 256);
  CHECK((info.kind == DeviceKind::Host) == (info.selector == "host"));
}

TEST_CASE_FIXTURE(DeviceFixture, "device: the instance lists it and always lists the host device") {
  bool listed = false, host = false;
  for (const DeviceInfo& info : instance.devices()) {
    listed = listed || info.selector == device.info().selector;
    host = host || info.kind == DeviceKind::Host;
  }
  CHECK(listed);
  CHECK(host);
  const bool has_gpu = instance.devices().front().kind == DeviceKind::Cuda;
  CHECK(instance.gpu_unavailable_reason().empty() == has_gpu);
}

TEST_CASE_FIXTURE(DeviceFixture,
                  "device: queues have priorities within the device's range, and no others") {
  const DeviceLimits& limits = device.info().limits;
  CHECK(limits.highest_queue_priority <= 0);
  CHECK(limits.lowest_queue_priority >= limits.highest_queue_priority);
  if (is_host()) {
    CHECK(limits.highest_queue_priority == 0);
    CHECK(limits.lowest_queue_priority == 0);
  }
  const auto x = pool->allocate<unsigned>(16, "x");
  CommandBuffer cmd = recording();
  cmd.fill(x, 4u);
  CapturedGraph graph = compile(cmd);
  for (std::int32_t priority = limits.highest_queue_priority;
       priority <= limits.lowest_queue_priority; ++priority) {
    const Queue some = device.create_queue({.label = "some", .priority = priority});
    graph.launch(some).wait();
  }
  CHECK(values(x) == std::vector<unsigned>(16, 4));
  const std::string range = "from " + std::to_string(limits.highest_queue_priority) +
                            " (first) to " + std::to_string(limits.lowest_queue_priority);
  for (const std::int32_t priority : {limits.highest_queue_priority - 1,
                                      limits.lowest_queue_priority + 1, -2147483647, 2147483647}) {
    check_refused(
        ErrorCode::InvalidArgument,
        {"queue urgent", "priority " + std::to_string(priority), device.info().selector, range},
        [&] { static_cast<void>(device.create_queue({.label = "urgent", .priority = priority})); });
  }
}

}  // namespace reprise::test::device_test
