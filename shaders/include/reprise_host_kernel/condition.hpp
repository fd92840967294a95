// The kernel parameter type of a reprise::Condition: on the host device, the address of its value.
// Threads: as atomics.
#pragma once

#include <atomic>
#include <cstdint>

namespace reprise::host_kernel::language {

struct reprise_condition {
  unsigned long long handle;
};

inline void reprise_set_condition(reprise_condition condition, unsigned value) {
  std::atomic_ref(*reinterpret_cast<std::uint32_t*>(condition.handle))
      .store(value, std::memory_order_relaxed);
}

}  // namespace reprise::host_kernel::language
