#include "runtime/memory/pool_slab.hpp"

#include <algorithm>
#include <utility>

#include <reprise/error.hpp>

#include "base/reserve_one.hpp"
#include "runtime/core/device_core.hpp"

namespace reprise::detail {

SlabLease::~SlabLease() {
  mark_attached();
  slab_->end_lease(bytes_);
  if (trace_graph_ != kNone) slab_->owner_.trace->remove_sharer(trace_graph_);
}

void SlabLease::mark_attached() noexcept {
  if (is_attached_) return;
  is_attached_ = true;
  const std::lock_guard lock(slab_->mutex_);
  --slab_->unattached_;
}

void SlabLease::set_trace_graph(std::uint32_t graph) noexcept {
  if (!slab_->owner_.trace || trace_graph_ != kNone) return;
  trace_graph_ = graph;
  slab_->owner_.trace->add_sharer(graph);
}

PoolSlab::PoolSlab(Owner owner, const SlabExtent& extent, std::string_view graph)
    : owner_(std::move(owner)), slab_(owner_.device, owner_.pool, extent, graph) {
  owner_.device->memory().add_shared_slab();
  owner_.pool->add_shared_slab();
}

PoolSlab::~PoolSlab() {
  owner_.device->memory().remove_shared_slab();
  owner_.pool->remove_shared_slab();
}

std::uint64_t PoolSlab::max_bytes() const {
  const std::lock_guard lock(mutex_);
  return slab_.max_bytes();
}

std::uint64_t PoolSlab::footprint_bytes() const {
  const std::lock_guard lock(mutex_);
  return slab_.footprint_bytes();
}

std::uint64_t PoolSlab::mapped_bytes() const {
  const std::lock_guard lock(mutex_);
  return slab_.is_unmapped() ? 0 : slab_.footprint_bytes();
}

std::uint64_t PoolSlab::needed() const noexcept {
  return leases_.empty() ? 0 : *std::max_element(leases_.begin(), leases_.end());
}

std::unique_ptr<SlabLease> PoolSlab::lease(std::uint64_t bytes, std::string_view graph) {
  const std::lock_guard lock(mutex_);
  if (bytes > slab_.max_bytes()) return nullptr;
  reserve_one(leases_);
  const std::uint64_t before = needed();
  if (bytes > before) slab_.resize(bytes, graph);
  try {
    if (slab_.is_unmapped()) slab_.map(graph);
    auto lease = std::make_unique<SlabLease>(shared_from_this(), bytes);
    leases_.push_back(bytes);
    ++unattached_;
    owner_.device->memory().add_sharer();
    owner_.pool->add_sharer();
    return lease;
  } catch (...) {
    slab_.resize(before, graph);  // shrinks, which needs no memory
    throw;
  }
}

// Shrinks the slab to what the remaining leases need.
void PoolSlab::end_lease(std::uint64_t bytes) noexcept {
  owner_.device->memory().remove_sharer();
  owner_.pool->remove_sharer();
  const std::lock_guard lock(mutex_);
  leases_.erase(std::find(leases_.begin(), leases_.end(), bytes));
  try {
    slab_.resize(needed(), {});
  } catch (...) {
    // The driver's context releases pages that the driver refuses to unmap now.
  }
}

TrimResult PoolSlab::unmap() {
  const std::lock_guard lock(mutex_);
  if (slab_.is_unmapped()) return TrimResult::AlreadyTrimmed;
  if (!slab_.is_pageable()) return TrimResult::NotPageable;
  if (unattached_ != 0) return TrimResult::Busy;
  slab_.unmap();
  return TrimResult::Trimmed;
}

bool PoolSlab::map(std::string_view graph) {
  const std::lock_guard lock(mutex_);
  if (!slab_.is_unmapped()) return false;
  slab_.map(graph);
  return true;
}

}  // namespace reprise::detail
