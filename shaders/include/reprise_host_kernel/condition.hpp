// The kernel parameter type of a reprise::Condition: on the host device, the address of its value.
// Threads: as atomics.
#pragma once

#include <cstdint>

#include <reprise/abi.hpp>

namespace reprise::inline REPRISE_ABI::host_kernel::language {

struct reprise_condition {
  unsigned long long handle;
};

inline void reprise_set_condition(reprise_condition condition, unsigned value) {
  __atomic_store_n(reinterpret_cast<std::uint32_t*>(condition.handle), value, __ATOMIC_RELAXED);
}

}  // namespace reprise::inline REPRISE_ABI::host_kernel::language
