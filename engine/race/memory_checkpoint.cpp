#include "race/memory_checkpoint.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "base/handle_access.hpp"
#include "runtime/core/device_core.hpp"
#include "runtime/memory/pool_core.hpp"

namespace reprise::detail {

namespace {

// The persistent buffers of the recording and, as `desc` says, of its pools.
std::vector<std::shared_ptr<PoolBuffer>> buffers_of(const Device& device,
                                                    const Recording& recording,
                                                    const RaceDesc& desc) {
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
      for (auto& buffer : core_of(device)->live_buffers()) {
        const bool is_new = std::find(buffers.begin(), buffers.end(), buffer) == buffers.end();
        const bool is_near =
            std::find(pools.begin(), pools.end(), buffer->pool().get()) != pools.end();
        if (is_new && is_near && buffer->is_persistent() && !buffer->is_stale())
          buffers.push_back(std::move(buffer));
      }
      break;
    case RaceDesc::Compare::Declared: break;
  }
  return buffers;
}

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

MemoryCheckpoint::MemoryCheckpoint(const Device& device, Queue queue, const Recording& recording,
                                   const RaceDesc& desc)
    : queue_(std::move(queue)),
      saved_(device, buffers_of(device, recording, desc), recording, BufferKind::PinnedHost) {
  for (const SavedMemory::Area& area : areas()) {
    const bool ignored = std::any_of(
        desc.ignore.begin(), desc.ignore.end(),
        [&](const BufferView& view) { return area.buffer && core_of(view) == area.buffer; });
    compared_.push_back(ignored ? 0 : 1);
  }
  if (saved_.copy()) {
    using Direction = SavedMemory::Direction;
    save_ = device.compile(saved_.record("find_races: save", Direction::Save));
    load_ = device.compile(saved_.record("find_races: restore", Direction::Restore));
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

MemoryCheckpoint::Image MemoryCheckpoint::read() {
  const std::uint64_t bytes = saved_.copy().bytes();
  Image image(bytes + saved_.host_bytes());
  if (save_) {
    save_.launch(queue_).wait();
    std::memcpy(image.data(), saved_.copy().data(), bytes);
  } else {
    queue_.wait_idle();
  }
  saved_.save_host(std::span(image).subspan(bytes));
  return image;
}

void MemoryCheckpoint::restore() {
  queue_.wait_idle();
  const std::uint64_t bytes = saved_.copy().bytes();
  saved_.restore_host(std::span(initial_).subspan(bytes));
  if (load_) {
    std::memcpy(saved_.copy().data(), initial_.data(), bytes);
    load_.launch(queue_).wait();
  }
}

std::vector<AreaDifference> MemoryCheckpoint::differences(const Image& a, const Image& b) const {
  std::vector<AreaDifference> found;
  for (std::uint32_t i = 0; i < areas().size(); ++i) {
    if (compared_[i] == 0) continue;
    const SavedMemory::Area& area = areas()[i];
    AreaDifference difference =
        compare_bytes(a.data() + offset(area), b.data() + offset(area), area.bytes);
    difference.area = i;
    if (difference.count != 0) found.push_back(difference);
  }
  return found;
}

}  // namespace reprise::detail
