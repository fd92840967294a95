// PoolSlabs: the slabs that the graphs of one pool share, one for each replica index. A hidden
// proxy buffer represents each slab; every graph on the slab writes it, so ordinary hazard tracking
// serialises their launches. A pool without sharing uses none. Threads: any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
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

  struct Leased {
    std::shared_ptr<PoolBuffer> proxy;
    std::unique_ptr<SlabLease> lease;
    // Largest size of the earlier graphs' slab if that was too small and a new slab was made; 0
    // otherwise.
    std::uint64_t too_small = 0;
  };
  // Leases `bytes` to replica `replica` of `graph`. `pool` owns this. Throws SlabExhausted if a
  // budget refuses, OutOfMemory, DeviceLost. The caller holds no lock.
  [[nodiscard]] Leased lease(const std::shared_ptr<PoolCore>& pool, std::uint64_t bytes,
                             std::uint32_t replica, std::string_view graph);

 private:
  struct Entry {
    std::weak_ptr<PoolBuffer> proxy;
    std::weak_ptr<PoolSlab> slab;
    std::uint32_t replica;
  };
  const SlabSharing sharing_;
  const std::optional<std::uint64_t> reserve_;  // bytes; empty: the device's memory
  std::mutex mutex_;
  std::vector<Entry> entries_;  // under mutex_; the last entry of each replica is the largest
};

}  // namespace reprise::detail
