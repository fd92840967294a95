// SlabResidency: whether the slab behind one replica's transients is mapped, and how many callers
// forbid unmapping it. Knows no executable.
// Threads: the replica's mutex guards every function except needs_map().
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "runtime/memory/pool_user.hpp"
#include "runtime/memory/transient_memory.hpp"

namespace reprise::detail {

class SlabResidency {
 public:
  // True if the next launch must map the slab first. Any thread.
  [[nodiscard]] bool needs_map() const noexcept {
    return unmapped_.load(std::memory_order_relaxed);
  }

  void pin() noexcept { ++pins_; }
  void unpin() noexcept { --pins_; }
  [[nodiscard]] bool is_pinned() const noexcept { return pins_ != 0; }

  // Unmaps a slab of the replica's own unless it is pinned or `last`, the replica's last launch, is
  // pending. `bytes` receives the bytes released. Throws DeviceLost.
  [[nodiscard]] TrimResult unmap_own(TransientMemory& memory, const QueuePoint& last,
                                     std::uint64_t& bytes);
  // Records that the shared slab was unmapped.
  void mark_unmapped() noexcept { unmapped_.store(true, std::memory_order_release); }
  // Maps the slab if needs_map(). True if this call mapped it: another graph on a shared slab may
  // have mapped it before. Under order() too if the slab is shared. Throws SlabExhausted,
  // OutOfMemory.
  [[nodiscard]] bool map(TransientMemory& memory, std::string_view graph);

 private:
  std::atomic<bool> unmapped_{false};
  std::uint32_t pins_ = 0;
};

}  // namespace reprise::detail
