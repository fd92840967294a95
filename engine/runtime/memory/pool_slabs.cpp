#include "runtime/memory/pool_slabs.hpp"

#include <algorithm>
#include <utility>

#include "base/reserve_one.hpp"
#include "base/text.hpp"
#include "profile/nvtx.hpp"
#include "runtime/core/device_core.hpp"
#include "runtime/memory/pool_buffer.hpp"
#include "runtime/memory/pool_core.hpp"

namespace reprise::detail {
namespace {

// The proxy is shared from the first graph on: launches take order(), under which slabs are
// unmapped.
std::shared_ptr<PoolBuffer> make_proxy(const std::shared_ptr<PoolSlab>& slab,
                                       const std::shared_ptr<PoolCore>& pool) {
  DeviceCore& device = *pool->device();
  const std::string name = concat("the slab of pool ", pool->label());
  auto buffer = PoolBuffer::make(pool, {.kind = BufferKind::Device,
                                        .bytes = slab->max_bytes(),
                                        .alignment = device.info().limits.buffer_alignment,
                                        .name = name,
                                        .adopted = slab->address(),
                                        .owner = slab,
                                        .visibility = BufferDesc::Visibility::Internal});
  const std::lock_guard order(device.order());
  buffer->prepare();
  buffer->share();
  return buffer;
}

}  // namespace

PoolSlabs::Leased PoolSlabs::lease(const std::shared_ptr<PoolCore>& pool, std::uint64_t bytes,
                                   std::uint32_t replica, std::string_view graph) {
  DeviceCore& device = *pool->device();
  Leased leased;
  const std::lock_guard lock(mutex_);
  std::erase_if(entries_, [](const Entry& entry) { return entry.proxy.expired(); });
  for (auto entry = entries_.rbegin(); entry != entries_.rend(); ++entry) {
    if (entry->replica != replica) continue;
    leased.proxy = entry->proxy.lock();
    const auto slab = entry->slab.lock();
    if (!leased.proxy || !slab || leased.proxy->is_stale()) continue;
    leased.lease = slab->lease(bytes, graph);
    if (leased.lease) return leased;
    leased.too_small = std::max(leased.too_small, slab->max_bytes());
  }
  reserve_one(entries_);
  const std::uint64_t reserve = std::max(reserve_.value_or(device.info().memory_bytes), bytes);
  auto slab = std::make_shared<PoolSlab>(
      PoolSlab::Owner{pool->device(), pool->memory(), pool->shared_trace()},
      SlabExtent{bytes, reserve}, graph);
  leased.lease = slab->lease(bytes, graph);
  leased.proxy = make_proxy(slab, pool);
  if (device.info().kind != DeviceKind::Host)
    nvtx_name_memory(slab->address(), pool->label(), "transient buffers");
  entries_.push_back({leased.proxy, slab, replica});
  return leased;
}

}  // namespace reprise::detail
