// MemoryBudget: bytes of device memory that a pool, or a device, has taken: against its budget, and
// for its statistics. Knows no memory. Threads: any thread.
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
  // `name`, for messages: "pool step", "cuda:0".
  MemoryBudget(std::string name, std::optional<std::uint64_t> budget)
      : name_(std::move(name)), budget_(budget.value_or(kUnlimited)) {}

  // Told after each change but that a buffer was made (note_buffer()), on the thread that made it;
  // it must not throw. Before anybody else knows the account.
  void watch(std::function<void()> changed) noexcept { changed_ = std::move(changed); }

  void set_budget(std::optional<std::uint64_t> bytes) noexcept {
    budget_.store(bytes.value_or(kUnlimited), std::memory_order_relaxed);
    say_changed();
  }
  // What may still be taken; the largest number without a budget.
  [[nodiscard]] std::uint64_t available() const noexcept;

  enum class Part : std::uint8_t { Buffer, Slab };
  // False, and nothing has changed, where the budget does not allow it.
  [[nodiscard]] bool take(Part part, std::uint64_t bytes) noexcept;
  void give_back(Part part, std::uint64_t bytes) noexcept;
  // A slab came, or went, whether it had pages or not.
  void add_slab(std::uint64_t bytes) noexcept;
  void remove_slab(std::uint64_t bytes) noexcept;
  void resize_slab(std::uint64_t before, std::uint64_t bytes) noexcept;
  // One of the slabs is for several executables; or is no more. And so many more or fewer of them
  // lie in it.
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
  void note_buffer() noexcept { say_changed(); }
  void note_trim() noexcept;
  void note_remap() noexcept;

  [[nodiscard]] MemoryStatistics statistics() const noexcept;
  // "of the 5000 bytes of the budget of pool step 1000 are left: 4000 are taken by buffers, 0 by
  // slabs".
  [[nodiscard]] std::string why_not() const;

 private:
  static constexpr std::uint64_t kUnlimited = ~std::uint64_t{0};

  void say_changed() const noexcept;

  const std::string name_;
  std::function<void()> changed_;
  std::atomic<std::uint64_t> budget_;
  std::atomic<std::uint64_t> mapped_{0}, buffers_{0}, pinned_{0}, peak_{0}, reserved_slabs_{0},
      slabs_{0}, trims_{0}, remaps_{0}, shared_slabs_{0}, sharers_{0};
};

}  // namespace reprise::detail
