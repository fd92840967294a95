#include "tune/buffer_snapshot.hpp"

#include <cstring>
#include <utility>

#include "base/aligned_up.hpp"
#include "base/failure.hpp"
#include "base/handle_access.hpp"
#include "base/text.hpp"
#include "compile/stages.hpp"
#include "record/geometry.hpp"
#include "runtime/core/device_core.hpp"

namespace reprise::detail {

namespace {

constexpr std::uint64_t kAreaAlignment = 256;

[[nodiscard]] std::uint64_t area_bytes(const PoolBuffer& buffer) {
  return aligned_up(buffer.bytes, kAreaAlignment);
}

}  // namespace

BufferSnapshot::BufferSnapshot(Device device,
                               const std::vector<std::shared_ptr<PoolBuffer>>& written,
                               const Recording& recording)
    : device_(std::move(device)) {
  find_host_memory(recording);
  std::vector<std::shared_ptr<PoolBuffer>> on_device;
  for (const auto& buffer : written) {
    if (buffer->kind == BufferKind::PinnedHost) {
      host_.push_back({buffer->address, std::vector<std::byte>(buffer->bytes)});
    } else {
      on_device.push_back(buffer);
      bytes_ += area_bytes(*buffer);
    }
  }
  if (on_device.empty()) return;
  try {
    pool_ = device_.create_pool({.label = "saved contents"});
    copy_ = pool_->allocate<std::byte>(bytes_, "saved contents");
  } catch (const Error& error) {
    throw with_context(error, recording.label,
                       concat("for ", bytes_, " bytes to save the buffers that replays of ",
                              recording.label, " write"));
  }
  save_ = copies(on_device, Direction::Save);
  restore_ = copies(on_device, Direction::Restore);
}

BufferSnapshot::~BufferSnapshot() = default;

void BufferSnapshot::find_host_memory(const Recording& recording) {
  for (std::uint32_t i = 0; i < recording.commands.size(); ++i) {
    if (recording.commands[i].kind != CommandKind::Copy) continue;
    const auto& copy = recording.payload<CopyPayload>(i);
    if (copy.destination.buffer != kNone) continue;
    const std::uint64_t bytes = *span_bytes(copy.extent, copy.destination_pitch);
    host_.push_back(
        {static_cast<std::byte*>(copy.destination.host), std::vector<std::byte>(bytes)});
  }
  for (const auto& body : recording.bodies) find_host_memory(*body);
}

std::unique_ptr<BackendExec> BufferSnapshot::copies(
    const std::vector<std::shared_ptr<PoolBuffer>>& buffers, Direction direction) const {
  CommandBuffer commands = device_.create_command_buffer({.label = "saved contents"});
  commands.begin();
  std::uint64_t offset = 0;
  for (const auto& buffer : buffers) {
    const auto original = make_handle<BufferView>(buffer, 0u, buffer->bytes);
    const BufferView copy = copy_.subview(offset, buffer->bytes);
    switch (direction) {
      case Direction::Save: commands.copy(original, copy); break;
      case Direction::Restore: commands.copy(copy, original); break;
    }
    offset += area_bytes(*buffer);
  }
  commands.end();
  const DeviceCore& core = *core_of(device_);
  auto plan = make_plan("saved contents", core_of(commands)->executable("tune"),
                        {.alignment = core.info().limits.buffer_alignment});
  return core.backend().instantiate(plan, bind(*plan, nullptr, 0), Instrumentation::None);
}

void BufferSnapshot::save_host() {
  for (HostArea& area : host_) std::memcpy(area.saved.data(), area.memory, area.saved.size());
}

void BufferSnapshot::restore_host() const noexcept {
  for (const HostArea& area : host_) std::memcpy(area.memory, area.saved.data(), area.saved.size());
}

}  // namespace reprise::detail
