// TransientMemory: the memory of one executable's transients: a slab of its own, or a lease of a
// slab that graphs of its pool share. Threads: values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "plan/plan.hpp"
#include "runtime/memory/pool_slab.hpp"
#include "runtime/memory/slab.hpp"

namespace reprise::inline REPRISE_ABI {
class CapturePool;
}  // namespace reprise::inline REPRISE_ABI

namespace reprise::detail {

class DeviceCore;
class PoolBuffer;

struct TransientMemory {
  std::shared_ptr<PoolBuffer> proxy;  // of a shared slab; null: not shared
  std::unique_ptr<SlabLease> lease;   // of that slab
  std::unique_ptr<Slab> own;          // null: no transients, or a shared slab
  std::byte* address = nullptr;
  std::uint64_t bytes = 0;  // capacity

  // False for a view of memory that another executable owns; see allocate_candidate_transients().
  [[nodiscard]] bool is_owner() const noexcept { return own != nullptr || lease != nullptr; }
};

// Allocates the transients of `plan` for replica `replica`, shared by the rules of `pool`; a null
// pool shares nothing. Empty without transients. Trims idle graphs if memory is short. Throws
// SlabExhausted, OutOfMemory. The caller holds no lock.
[[nodiscard]] TransientMemory allocate_transients(const std::shared_ptr<DeviceCore>& device,
                                                  const std::shared_ptr<CapturePool>& pool,
                                                  const Plan& plan, std::uint32_t replica);

// Memory for another executable of the same graph, made from `plan`, which never runs at the same
// time as the current one: the memory of `current` if it is large enough or can grow, a new slab
// otherwise. Throws SlabExhausted if `current` is shared and cannot grow so far, and as
// allocate_transients().
[[nodiscard]] TransientMemory allocate_candidate_transients(
    const TransientMemory& current, const std::shared_ptr<DeviceCore>& device,
    const std::shared_ptr<CapturePool>& pool, const Plan& plan);

}  // namespace reprise::detail
