#include "runtime/memory/saved_memory.hpp"

#include <cstring>
#include <utility>

#include "base/aligned_up.hpp"
#include "base/handle_access.hpp"
#include "base/text.hpp"
#include "record/geometry.hpp"

namespace reprise::detail {

namespace {

constexpr std::uint64_t kAreaAlignment = 256;

}  // namespace

SavedMemory::SavedMemory(Device device, std::vector<std::shared_ptr<PoolBuffer>> buffers,
                         const Recording& recording, BufferKind kind)
    : device_(std::move(device)) {
  std::uint64_t bytes = 0;
  for (std::shared_ptr<PoolBuffer>& buffer : buffers) {
    const std::uint64_t size = buffer->bytes;
    areas_.push_back({.name = display_name(*buffer),
                      .buffer = std::move(buffer),
                      .bytes = size,
                      .offset = bytes});
    bytes += aligned_up(size, kAreaAlignment);
  }
  add_host_memory(recording);
  if (bytes == 0) return;
  pool_ = device_.create_pool({.label = "saved contents"});
  if (kind == BufferKind::PinnedHost) {
    copy_ = pool_->host<std::byte>(bytes, "saved contents");
  } else {
    copy_ = pool_->allocate<std::byte>(bytes, "saved contents");
  }
}

void SavedMemory::add_host_memory(const Recording& recording) {
  for (std::uint32_t i = 0; i < recording.commands.size(); ++i) {
    if (recording.commands[i].kind != CommandKind::Copy) continue;
    const auto& copy = recording.payload<CopyPayload>(i);
    if (copy.destination.buffer != kNone) continue;
    const std::uint64_t bytes = *span_bytes(copy.extent, copy.destination_pitch);
    areas_.push_back({.name = concat("host memory of command ", i),
                      .buffer = nullptr,
                      .host = static_cast<std::byte*>(copy.destination.host),
                      .bytes = bytes,
                      .offset = host_bytes_});
    host_bytes_ += bytes;
  }
  for (const auto& body : recording.bodies) add_host_memory(*body);
}

CommandBuffer SavedMemory::record(std::string_view label, Direction direction) const {
  CommandBuffer commands = device_.create_command_buffer({.label = label});
  commands.begin();
  for (const Area& area : areas_) {
    if (!area.buffer || area.bytes == 0) continue;
    const auto buffer = make_handle<BufferView>(area.buffer, 0u, area.bytes);
    const BufferView copy = copy_.subview(area.offset, area.bytes);
    switch (direction) {
      case Direction::Save: commands.copy(buffer, copy); break;
      case Direction::Restore: commands.copy(copy, buffer); break;
    }
  }
  commands.end();
  return commands;
}

void SavedMemory::save_host(std::span<std::byte> image) const noexcept {
  for (const Area& area : areas_) {
    if (!area.buffer && area.bytes != 0)
      std::memcpy(image.data() + area.offset, area.host, area.bytes);
  }
}

void SavedMemory::restore_host(std::span<const std::byte> image) const noexcept {
  for (const Area& area : areas_) {
    if (!area.buffer && area.bytes != 0)
      std::memcpy(area.host, image.data() + area.offset, area.bytes);
  }
}

}  // namespace reprise::detail
