#include "runtime/memory/pool_slab.hpp"

#include <algorithm>
#include <utility>

#include <reprise/error.hpp>

#include "runtime/core/device_core.hpp"

namespace reprise::detail {

PoolSlab::Share::~Share() {
  settle();
  slab_->leave(bytes_);
  if (told_ != kNone) slab_->of_.trace->remove_sharer(told_);
}

void PoolSlab::Share::settle() noexcept {
  if (is_settled_) return;
  is_settled_ = true;
  const std::lock_guard lock(slab_->mutex_);
  --slab_->unsettled_;
}

void PoolSlab::Share::tell(std::uint32_t graph) noexcept {
  if (!slab_->of_.trace || told_ != kNone) return;
  told_ = graph;
  slab_->of_.trace->add_sharer(graph);
}

PoolSlab::PoolSlab(Owner owner, const SlabExtent& room, std::string_view graph)
    : of_(std::move(owner)), slab_(of_.device, of_.pool, room, graph) {
  of_.device->memory().add_shared_slab();
  of_.pool->add_shared_slab();
}

PoolSlab::~PoolSlab() {
  of_.device->memory().remove_shared_slab();
  of_.pool->remove_shared_slab();
}

std::uint64_t PoolSlab::most_bytes() const {
  const std::lock_guard lock(mutex_);
  return slab_.most_bytes();
}

std::uint64_t PoolSlab::taken_bytes() const {
  const std::lock_guard lock(mutex_);
  return slab_.taken_bytes();
}

std::uint64_t PoolSlab::mapped_bytes() const {
  const std::lock_guard lock(mutex_);
  return slab_.is_given_back() ? 0 : slab_.taken_bytes();
}

std::uint64_t PoolSlab::needed() const noexcept {
  return shares_.empty() ? 0 : *std::max_element(shares_.begin(), shares_.end());
}

std::unique_ptr<PoolSlab::Share> PoolSlab::share(std::uint64_t bytes, std::string_view graph) {
  const std::lock_guard lock(mutex_);
  if (bytes > slab_.most_bytes()) return nullptr;
  shares_.reserve(shares_.size() + 1);
  const std::uint64_t before = needed();
  if (bytes > before) slab_.resize(bytes, graph);
  try {
    if (slab_.is_given_back()) slab_.take(graph);
    auto share = std::make_unique<Share>(shared_from_this(), bytes);
    shares_.push_back(bytes);
    ++unsettled_;
    of_.device->memory().add_sharer();
    of_.pool->add_sharer();
    return share;
  } catch (...) {
    slab_.resize(before, graph);  // less, or nothing at all
    throw;
  }
}

// What the others do not need goes.
void PoolSlab::leave(std::uint64_t bytes) noexcept {
  of_.device->memory().remove_sharer();
  of_.pool->remove_sharer();
  const std::lock_guard lock(mutex_);
  shares_.erase(std::find(shares_.begin(), shares_.end(), bytes));
  try {
    slab_.resize(needed(), {});
  } catch (const Error&) {
    // Pages that the driver does not take any more go with its context.
  }
}

PoolSlab::Given PoolSlab::give_back() {
  const std::lock_guard lock(mutex_);
  if (slab_.is_given_back()) return Given::Before;
  if (!slab_.has_pages()) return Given::NoPages;
  if (unsettled_ != 0) return Given::Busy;
  slab_.give_back();
  return Given::Back;
}

bool PoolSlab::take(std::string_view graph) {
  const std::lock_guard lock(mutex_);
  if (!slab_.is_given_back()) return false;
  slab_.take(graph);
  return true;
}

}  // namespace reprise::detail
