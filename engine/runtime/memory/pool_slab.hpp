// PoolSlab: a slab where transients of several graphs lie, each from its first byte on: as large as
// the largest of them needs. That no two of them run at the same time is the business of the buffer
// that stands for it (run/pool_slabs.hpp), which each of them writes. Threads: any; what says so,
// under DeviceCore::order().
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "profile/pool_trace.hpp"
#include "runtime/memory/slab.hpp"

namespace reprise::detail {

class PoolSlab final : public std::enable_shared_from_this<PoolSlab> {
 public:
  // The room of one executable, for as long as a launch of it may use it. The slab keeps its pages
  // until it is settled.
  class Share {
   public:
    Share(std::shared_ptr<PoolSlab> slab, std::uint64_t bytes) noexcept
        : slab_(std::move(slab)), bytes_(bytes) {}
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;
    ~Share();
    [[nodiscard]] PoolSlab& slab() const noexcept { return *slab_; }
    [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
    // Whoever gives pages back sees by now that the executable's graph uses the slab.
    void settle() noexcept;
    // The trace knows the executable's graph as this.
    void tell(std::uint32_t graph) noexcept;

   private:
    const std::shared_ptr<PoolSlab> slab_;
    const std::uint64_t bytes_;
    bool is_settled_ = false;
    std::uint32_t told_ = kNone;
  };

  // Throws what Slab does.
  struct Owner {
    std::shared_ptr<DeviceCore> device;
    std::shared_ptr<MemoryBudget> pool;
    std::shared_ptr<PoolTrace> trace;  // null: there is none
  };
  PoolSlab(Owner owner, const SlabExtent& room, std::string_view graph);
  PoolSlab(const PoolSlab&) = delete;
  PoolSlab& operator=(const PoolSlab&) = delete;
  ~PoolSlab();

  [[nodiscard]] std::byte* address() const noexcept { return slab_.address(); }
  [[nodiscard]] std::uint64_t most_bytes() const;
  [[nodiscard]] bool has_pages() const noexcept { return slab_.has_pages(); }
  [[nodiscard]] std::uint64_t taken_bytes() const;  // with pages or without
  [[nodiscard]] std::uint64_t mapped_bytes() const;
  // It grows in place where it has to, and its pages are there; null where it can't grow so far.
  // Throws what Slab does.
  [[nodiscard]] std::unique_ptr<Share> share(std::uint64_t bytes, std::string_view graph);

  // --- Under order() ---
  enum class Given : std::uint8_t { Back, Before, Busy, NoPages };
  // Of a slab whose graphs have nothing to do.
  [[nodiscard]] Given give_back();
  // The pages are there. Throws what Slab does. True: they had been given back.
  [[nodiscard]] bool take(std::string_view graph);

 private:
  [[nodiscard]] std::uint64_t needed() const noexcept;  // under mutex_: by the largest
  void leave(std::uint64_t bytes) noexcept;

  const Owner of_;
  mutable std::mutex mutex_;  // of what follows
  Slab slab_;
  std::vector<std::uint64_t> shares_;  // bytes of each
  std::uint32_t unsettled_ = 0;
};

}  // namespace reprise::detail
