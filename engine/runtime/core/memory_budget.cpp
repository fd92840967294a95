#include "runtime/core/memory_budget.hpp"

#include "base/text.hpp"

namespace reprise::detail {

std::uint64_t MemoryBudget::available() const noexcept {
  const std::uint64_t budget = budget_.load(std::memory_order_relaxed),
                      mapped = mapped_.load(std::memory_order_relaxed);
  return budget > mapped ? budget - mapped : 0;
}

bool MemoryBudget::reserve(Part part, std::uint64_t bytes) noexcept {
  const std::uint64_t budget = budget_.load(std::memory_order_relaxed);
  std::uint64_t before = mapped_.load(std::memory_order_relaxed);
  do {
    if (before > budget || bytes > budget - before) return false;
  } while (!mapped_.compare_exchange_weak(before, before + bytes, std::memory_order_relaxed));
  if (part == Part::Buffer) buffers_.fetch_add(bytes, std::memory_order_relaxed);
  std::uint64_t peak = peak_.load(std::memory_order_relaxed);
  while (peak < before + bytes &&
         !peak_.compare_exchange_weak(peak, before + bytes, std::memory_order_relaxed)) {
  }
  return true;
}

void MemoryBudget::release(Part part, std::uint64_t bytes) noexcept {
  mapped_.fetch_sub(bytes, std::memory_order_relaxed);
  if (part != Part::Buffer) return;
  buffers_.fetch_sub(bytes, std::memory_order_relaxed);
  notify();
}

void MemoryBudget::notify() const noexcept {
  if (changed_) changed_();
}

void MemoryBudget::add_slab(std::uint64_t bytes) noexcept {
  slabs_.fetch_add(1, std::memory_order_relaxed);
  reserved_slabs_.fetch_add(bytes, std::memory_order_relaxed);
  notify();
}

void MemoryBudget::remove_slab(std::uint64_t bytes) noexcept {
  slabs_.fetch_sub(1, std::memory_order_relaxed);
  reserved_slabs_.fetch_sub(bytes, std::memory_order_relaxed);
  notify();
}

void MemoryBudget::resize_slab(std::uint64_t before, std::uint64_t bytes) noexcept {
  reserved_slabs_.fetch_add(bytes - before, std::memory_order_relaxed);  // modulo 2^64
  notify();
}

void MemoryBudget::add_sharer() noexcept {
  sharers_.fetch_add(1, std::memory_order_relaxed);
  notify();
}

void MemoryBudget::remove_sharer() noexcept {
  sharers_.fetch_sub(1, std::memory_order_relaxed);
  notify();
}

void MemoryBudget::record_trim() noexcept {
  trims_.fetch_add(1, std::memory_order_relaxed);
  notify();
}

void MemoryBudget::record_remap() noexcept {
  remaps_.fetch_add(1, std::memory_order_relaxed);
  notify();
}

MemoryStatistics MemoryBudget::statistics() const noexcept {
  MemoryStatistics now;
  if (const std::uint64_t budget = budget_.load(std::memory_order_relaxed); budget != kUnlimited)
    now.budget = budget;
  now.mapped = mapped_.load(std::memory_order_relaxed);
  now.buffer_bytes = buffers_.load(std::memory_order_relaxed);
  now.pinned_bytes = pinned_.load(std::memory_order_relaxed);
  now.reserved = now.buffer_bytes + reserved_slabs_.load(std::memory_order_relaxed);
  now.peak = peak_.load(std::memory_order_relaxed);
  now.slabs = slabs_.load(std::memory_order_relaxed);
  now.shared_slabs = shared_slabs_.load(std::memory_order_relaxed);
  now.sharers = sharers_.load(std::memory_order_relaxed);
  now.trims = trims_.load(std::memory_order_relaxed);
  now.remaps = remaps_.load(std::memory_order_relaxed);
  return now;
}

std::string MemoryBudget::describe() const {
  const MemoryStatistics now = statistics();
  return concat("of the ", now.budget.value_or(kUnlimited), " bytes of the budget of ", name_, ", ",
                available(), " are left: buffers hold ", now.buffer_bytes, ", slabs ",
                now.mapped - now.buffer_bytes);
}

}  // namespace reprise::detail
