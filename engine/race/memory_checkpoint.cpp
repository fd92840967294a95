#include "race/memory_checkpoint.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/aligned_up.hpp"
#include "base/handle_access.hpp"
#include "base/text.hpp"
#include "record/geometry.hpp"
#include "runtime/core/device_core.hpp"
#include "runtime/memory/pool_core.hpp"

namespace reprise::detail {

namespace {

constexpr std::uint64_t kAreaAlignment = 256;

}  // namespace

AreaDifference compare_bytes(const std::byte* a, const std::byte* b, std::uint64_t bytes) {
  AreaDifference difference;
  if (bytes == 0 || std::memcmp(a, b, bytes) == 0) return difference;
  for (std::uint64_t i = 0; i < bytes; ++i) {
    if (a[i] == b[i]) continue;
    if (difference.count == 0) difference.first = i;
    ++difference.count;
  }
  return difference;
}

MemoryCheckpoint::MemoryCheckpoint(Device device, Queue queue, const Recording& recording,
                                   const RaceDesc& desc)
    : device_(std::move(device)), queue_(std::move(queue)) {
  add_buffers(recording, desc);
  buffer_bytes_ = bytes_;
  add_host_memory(recording);
  if (buffer_bytes_ != 0) {
    pool_ = device_.create_pool({.label = "find_races"});
    stage_ = pool_->host<std::byte>(buffer_bytes_, "saved buffers");
    save_ = copies("find_races: save", Direction::IntoStage);
    load_ = copies("find_races: restore", Direction::FromStage);
  }
  initial_ = read();
  is_restored_ = false;
}

MemoryCheckpoint::~MemoryCheckpoint() {
  if (is_restored_) return;
  try {
    restore();
  } catch (...) {
    // A lost device has nothing to restore; the caller already has the cause.
  }
}

void MemoryCheckpoint::add_buffers(const Recording& recording, const RaceDesc& desc) {
  std::vector<std::shared_ptr<PoolBuffer>> buffers;
  std::vector<const PoolCore*> pools;
  for (const auto& core : recording.buffers) {
    auto buffer = PoolBuffer::of(core);
    if (!buffer) continue;
    pools.push_back(buffer->pool().get());
    if (buffer->is_persistent()) buffers.push_back(std::move(buffer));
  }
  switch (desc.compare) {
    case RaceDesc::Compare::Pools:
      for (auto& buffer : core_of(device_)->live_buffers()) {
        const bool is_new = std::find(buffers.begin(), buffers.end(), buffer) == buffers.end();
        const bool is_near =
            std::find(pools.begin(), pools.end(), buffer->pool().get()) != pools.end();
        if (is_new && is_near && buffer->is_persistent() && !buffer->is_stale())
          buffers.push_back(std::move(buffer));
      }
      break;
    case RaceDesc::Compare::Declared: break;
  }
  for (auto& buffer : buffers) {
    const bool ignored =
        std::any_of(desc.ignore.begin(), desc.ignore.end(),
                    [&](const BufferView& view) { return core_of(view) == buffer; });
    compared_.push_back(ignored ? 0 : 1);
    areas_.push_back({.name = display_name(*buffer),
                      .buffer = buffer,
                      .offset = bytes_,
                      .bytes = buffer->bytes});
    bytes_ += aligned_up(buffer->bytes, kAreaAlignment);
  }
}

void MemoryCheckpoint::add_host_memory(const Recording& recording) {
  for (std::uint32_t i = 0; i < recording.commands.size(); ++i) {
    if (recording.commands[i].kind != CommandKind::Copy) continue;
    const auto& copy = recording.payload<CopyPayload>(i);
    if (copy.destination.buffer != kNone) continue;
    const std::uint64_t bytes = *span_bytes(copy.extent, copy.destination_pitch);
    compared_.push_back(1);
    areas_.push_back({.name = concat("host memory of command ", i),
                      .buffer = nullptr,
                      .host = static_cast<std::byte*>(copy.destination.host),
                      .offset = bytes_,
                      .bytes = bytes});
    bytes_ += bytes;
  }
  for (const auto& body : recording.bodies) add_host_memory(*body);
}

CapturedGraph MemoryCheckpoint::copies(std::string_view label, Direction direction) const {
  CommandBuffer commands = device_.create_command_buffer({.label = label});
  commands.begin();
  for (const CheckpointArea& area : areas_) {
    if (!area.buffer) continue;
    const auto buffer = make_handle<BufferView>(area.buffer, 0u, area.bytes);
    const auto stage = stage_.slice(area.offset, area.bytes);
    switch (direction) {
      case Direction::IntoStage: commands.copy(buffer, stage); break;
      case Direction::FromStage: commands.copy(stage, buffer); break;
    }
  }
  commands.end();
  return device_.compile(commands);
}

MemoryCheckpoint::Image MemoryCheckpoint::read() {
  Image image(bytes_);
  if (save_) {
    save_.launch(queue_).wait();
    std::memcpy(image.data(), stage_.data(), buffer_bytes_);
  } else {
    queue_.wait_idle();
  }
  for (const CheckpointArea& area : areas_) {
    if (!area.buffer && area.bytes != 0)
      std::memcpy(image.data() + area.offset, area.host, area.bytes);
  }
  return image;
}

void MemoryCheckpoint::restore() {
  queue_.wait_idle();
  for (const CheckpointArea& area : areas_) {
    if (!area.buffer && area.bytes != 0)
      std::memcpy(area.host, initial_.data() + area.offset, area.bytes);
  }
  if (load_) {
    std::memcpy(stage_.data(), initial_.data(), buffer_bytes_);
    load_.launch(queue_).wait();
  }
}

std::vector<AreaDifference> MemoryCheckpoint::differences(const Image& a, const Image& b) const {
  std::vector<AreaDifference> found;
  for (std::uint32_t i = 0; i < areas_.size(); ++i) {
    if (compared_[i] == 0) continue;
    AreaDifference difference =
        compare_bytes(a.data() + areas_[i].offset, b.data() + areas_[i].offset, areas_[i].bytes);
    difference.area = i;
    if (difference.count != 0) found.push_back(difference);
  }
  return found;
}

}  // namespace reprise::detail
