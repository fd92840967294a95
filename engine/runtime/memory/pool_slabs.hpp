// PoolSlabs: the slabs of a pool whose graphs share: one for each number of an instance, and others
// where that can't grow as far as a graph needs. A buffer stands for each of them, which no one
// else knows and every graph on it writes: that is what orders their launches, and what keeps the
// slab. Threads: any.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/pool.hpp>

#include "runtime/memory/pool_slab.hpp"

namespace reprise::detail {

class PoolBuffer;
class PoolCore;

class PoolSlabs {
 public:
  explicit PoolSlabs(const PoolDesc& desc) noexcept
      : sharing_(desc.sharing), reserve_(desc.reserve ? desc.reserve : desc.budget) {}

  [[nodiscard]] SlabSharing sharing() const noexcept { return sharing_; }

  struct Room {
    std::shared_ptr<PoolBuffer> buffer;
    std::unique_ptr<PoolSlab::Share> share;
    std::uint64_t too_small = 0;  // so many bytes are the most that the slab of graphs before has,
                                  // which this is not; 0: there is no other
  };
  // For instance `instance` of `graph`. `pool` owns this. Throws SlabExhausted where a budget does
  // not allow it, OutOfMemory, DeviceLost. Without any lock.
  [[nodiscard]] Room room(const std::shared_ptr<PoolCore>& pool, std::uint64_t bytes,
                          std::uint32_t instance, std::string_view graph);

 private:
  struct Known {
    std::weak_ptr<PoolBuffer> buffer;
    std::weak_ptr<PoolSlab> slab;
    std::uint32_t instance;
  };
  const SlabSharing sharing_;
  const std::optional<std::uint64_t> reserve_;  // none: what the device has
  std::mutex mutex_;
  std::vector<Known> known_;  // under mutex_; of each instance the last one is the largest
};

}  // namespace reprise::detail
