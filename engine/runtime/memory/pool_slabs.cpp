#include "runtime/memory/pool_slabs.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "profile/nvtx.hpp"
#include "runtime/core/device_core.hpp"
#include "runtime/memory/pool_buffer.hpp"
#include "runtime/memory/pool_core.hpp"

namespace reprise::detail {
namespace {

// Shared from the first graph on: its launches are ordered, and pages given back, under order().
std::shared_ptr<PoolBuffer> stand_for(const std::shared_ptr<PoolSlab>& slab,
                                      const std::shared_ptr<PoolCore>& pool) {
  DeviceCore& device = *pool->device();
  const std::string name = concat("the slab of pool ", pool->label());
  auto buffer = PoolBuffer::make(pool, {.kind = BufferKind::Device,
                                        .bytes = slab->most_bytes(),
                                        .alignment = device.info().limits.buffer_alignment,
                                        .name = name,
                                        .adopted = slab->address(),
                                        .owner = slab,
                                        .known = BufferDesc::Known::ToItsGraphs});
  const std::lock_guard order(device.order());
  buffer->prepare();
  buffer->share();
  return buffer;
}

}  // namespace

PoolSlabs::Room PoolSlabs::room(const std::shared_ptr<PoolCore>& pool, std::uint64_t bytes,
                                std::uint32_t instance, std::string_view graph) {
  DeviceCore& device = *pool->device();
  Room room;
  const std::lock_guard lock(mutex_);
  std::erase_if(known_, [](const Known& known) { return known.buffer.expired(); });
  for (auto known = known_.rbegin(); known != known_.rend(); ++known) {
    if (known->instance != instance) continue;
    room.buffer = known->buffer.lock();
    const auto slab = known->slab.lock();
    if (!room.buffer || !slab || room.buffer->is_stale()) continue;
    room.share = slab->share(bytes, graph);
    if (room.share) return room;
    room.too_small = std::max(room.too_small, slab->most_bytes());
  }
  known_.reserve(known_.size() + 1);
  const std::uint64_t reserve = std::max(reserve_.value_or(device.info().memory_bytes), bytes);
  auto slab = std::make_shared<PoolSlab>(
      PoolSlab::Owner{pool->device(), pool->memory(), pool->shared_trace()},
      SlabExtent{bytes, reserve}, graph);
  room.share = slab->share(bytes, graph);
  room.buffer = stand_for(slab, pool);
  if (device.info().kind != DeviceKind::Host)
    nvtx_name_memory(slab->address(), pool->label(), "transient buffers");
  known_.push_back({room.buffer, slab, instance});
  return room;
}

}  // namespace reprise::detail
