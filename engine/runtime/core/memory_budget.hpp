// MemoryBudget: the bytes of device memory that a pool or a device holds, checked against a budget
// and counted for its statistics. Knows no memory. Threads: any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include <reprise/pool.hpp>

namespace reprise::detail {

class MemoryBudget {
 public:
  // `name` appears in messages: "pool step", "cuda:0". `budget` in bytes; empty: no limit.
  MemoryBudget(std::string name, std::optional<std::uint64_t> budget)
      : name_(std::move(name)), budget_(budget.value_or(kUnlimited)) {}

  // `changed` is called after each change except reserve(), on the thread that made the change; it
  // must not throw. Call before another thread can reach this object.
  void set_observer(std::function<void()> changed) noexcept { changed_ = std::move(changed); }

  void set_budget(std::optional<std::uint64_t> bytes) noexcept {
    budget_.store(bytes.value_or(kUnlimited), std::memory_order_relaxed);
    notify();
  }
  // Bytes that can still be reserved; close to the largest number without a budget.
  [[nodiscard]] std::uint64_t available() const noexcept;

  enum class Part : std::uint8_t { Buffer, Slab };
  // False, without any change, if the budget does not allow `bytes` more.
  [[nodiscard]] bool reserve(Part part, std::uint64_t bytes) noexcept;
  void release(Part part, std::uint64_t bytes) noexcept;
  // Counts a slab, mapped or not.
  void add_slab(std::uint64_t bytes) noexcept;
  void remove_slab(std::uint64_t bytes) noexcept;
  void resize_slab(std::uint64_t before, std::uint64_t bytes) noexcept;
  // Counts a slab that several executables share, and each executable that shares one.
  void add_shared_slab() noexcept { shared_slabs_.fetch_add(1, std::memory_order_relaxed); }
  void remove_shared_slab() noexcept { shared_slabs_.fetch_sub(1, std::memory_order_relaxed); }
  void add_sharer() noexcept;
  void remove_sharer() noexcept;
  void add_pinned(std::uint64_t bytes) noexcept {
    pinned_.fetch_add(bytes, std::memory_order_relaxed);
  }
  void remove_pinned(std::uint64_t bytes) noexcept {
    pinned_.fetch_sub(bytes, std::memory_order_relaxed);
  }
  void record_buffer() noexcept { notify(); }
  void record_trim() noexcept;
  void record_remap() noexcept;

  [[nodiscard]] MemoryStatistics statistics() const noexcept;
  // For messages: "of the 5000 bytes of the budget of pool step, 1000 are left: buffers hold 4000,
  // slabs 0".
  [[nodiscard]] std::string describe() const;

 private:
  static constexpr std::uint64_t kUnlimited = ~std::uint64_t{0};

  void notify() const noexcept;

  const std::string name_;
  std::function<void()> changed_;
  std::atomic<std::uint64_t> budget_;
  std::atomic<std::uint64_t> mapped_{0}, buffers_{0}, pinned_{0}, peak_{0}, reserved_slabs_{0},
      slabs_{0}, trims_{0}, remaps_{0}, shared_slabs_{0}, sharers_{0};
};

}  // namespace reprise::detail
