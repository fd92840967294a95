#include "unit/runtime/fake_backend.hpp"

#include <doctest/doctest.h>

#include <utility>

#include "runtime/core/instance_core.hpp"
#include "support/thrown_by.hpp"
#include "unit/runtime/fake_device.hpp"

namespace reprise::test {

FakeProvider::FakeProvider(FakeWorld& world, std::vector<FakeDevice> devices)
    : world_(world), devices_(std::move(devices)) {}

std::vector<DeviceInfo> FakeProvider::devices() {
  std::vector<DeviceInfo> infos;
  for (const FakeDevice& device : devices_) {
    DeviceInfo info;
    info.name = "fake " + device.selector;
    info.selector = device.selector;
    info.kind = device.kind;
    info.limits.max_grid = {1u << 20, 1u << 16, 1u << 16};
    info.limits.max_block = {1024, 1024, 64};
    info.limits.max_block_threads = 1024;
    info.limits.max_shared_bytes = 1u << 16;
    info.limits.max_parameter_bytes = 4096;
    info.limits.max_pitch = 1u << 30;
    info.limits.max_segment_blocks = device.max_segment_blocks;
    infos.push_back(std::move(info));
  }
  return infos;
}

std::unique_ptr<Backend> FakeProvider::open(std::uint32_t index,
                                            std::shared_ptr<detail::DeviceStatus> status) {
  std::lock_guard lock(world_.mutex_);
  world_.may_fail("open", Stage::Open);
  return std::make_unique<FakeBackend>(world_, devices()[index], std::move(status));
}

void FakeProvider::require_driver() {
  throw Error({.code = driver_, .stage = Stage::Open}, "the fake driver is no good");
}

const KernelDesc& fake_kernel() {
  static const KernelParameter parameters[] = {{0, 8, true}, {8, 4, false}};
  static const KernelDesc desc = [] {
    KernelDesc d;
    d.name = "fake_kernel";
    d.parameters = parameters;
    return d;
  }();
  return desc;
}

// --- FakeInstance ---

FakeInstance::FakeInstance(InstanceDesc desc, std::vector<FakeDevice> devices)
    : provider(world, std::move(devices)), instance(detail::make_instance(desc, {&provider})) {}

FakeInstance::~FakeInstance() {
  world.complete_all();
  world.wait_until_empty();
  CHECK(world.violations() == std::vector<std::string>());
}

ErrorDetails error_of(const std::function<void()>& call) { return thrown_by(call).details(); }
std::string text_of(const std::function<void()>& call) { return thrown_by(call).what(); }

CapturedGraph make_graph(const Device& device, std::string_view label, const BufferView& source,
                         const BufferView& destination, std::shared_ptr<CapturePool> pool) {
  CommandBuffer commands = device.create_command_buffer({.label = label});
  commands.begin();
  if (source && destination) {
    commands.copy(source, destination);
  } else if (source) {
    commands.host([] {}, {read(source)});
  } else if (destination) {
    commands.fill_bits(destination, 0, 1, {destination.bytes(), 1, 1}, {});
  }
  commands.end();
  return device.compile(commands, {.pool = std::move(pool)});
}

}  // namespace reprise::test
