// TransientMemory: where the transients of one executable lie: in a slab of its own, or in one that
// graphs of its pool share. Threads: values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "plan/plan.hpp"
#include "runtime/memory/pool_slab.hpp"
#include "runtime/memory/slab.hpp"

namespace reprise {
class CapturePool;
}

namespace reprise::detail {

class DeviceCore;
class PoolBuffer;

struct TransientMemory {
  std::shared_ptr<PoolBuffer>
      shared;  // represents the slab that graphs share; null: they share none
  std::unique_ptr<PoolSlab::Share> share;  // of that slab
  std::unique_ptr<Slab> own;               // null: there are none, or they are shared
  std::byte* address = nullptr;
  std::uint64_t bytes = 0;  // room for them
};

// For the transients of `plan` as instance `instance`; empty where there are none. Of `pool`, as
// that shares or not; null: of none. Idle graphs are trimmed where there is too little. Throws
// SlabExhausted, OutOfMemory. Without any lock.
[[nodiscard]] TransientMemory allocate_transients(const std::shared_ptr<DeviceCore>& device,
                                                  const std::shared_ptr<CapturePool>& pool,
                                                  const Plan& plan, std::uint32_t instance);

// For the same graph's transients as `plan` has them, beside those that are in `now`, of which no
// two are used at once: in the same memory where it has room or can grow. Else in a slab of its
// own; where `now` is shared and can't grow so far, SlabExhausted. Throws what
// allocate_transients() does.
[[nodiscard]] TransientMemory allocate_beside(const TransientMemory& now,
                                              const std::shared_ptr<DeviceCore>& device,
                                              const std::shared_ptr<CapturePool>& pool,
                                              const Plan& plan);

}  // namespace reprise::detail
