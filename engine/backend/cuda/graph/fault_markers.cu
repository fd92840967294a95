// A one-thread kernel before and after a command, which increments a counter in host memory.
// Replays of one graph are serialised, so no two increments of a word overlap. The CPU can read the
// counter before the kernel ends. See fault_markers.hpp.
#include <reprise_kernel.hpp>

REPRISE_KERNEL(reprise_fault_mark, (volatile unsigned long long* count)) {
  *count = *count + 1;
  __threadfence_system();
}
