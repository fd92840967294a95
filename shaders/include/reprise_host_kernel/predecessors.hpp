// The host device starts a kernel once everything before it has ended. Threads: any.
#pragma once

namespace reprise::host_kernel::language {

inline void reprise_wait_for_predecessors() {}
inline void reprise_trigger_successors() {}

}  // namespace reprise::host_kernel::language
