// The host device starts a kernel after all its predecessors have ended, so these do nothing.
// Threads: any.
#pragma once

#include <reprise/abi.hpp>

namespace reprise::inline REPRISE_ABI::host_kernel::language {

inline void reprise_wait_for_predecessors() {}
inline void reprise_trigger_successors() {}

}  // namespace reprise::inline REPRISE_ABI::host_kernel::language
