// A kernel of one thread before and behind a command: it counts in memory of the CPU. Replays of
// one graph follow each other, so that no word is counted twice at once; the count is there for the
// CPU before the kernel ends. See fault_markers.hpp.
#include <reprise_kernel.hpp>

REPRISE_KERNEL(reprise_fault_mark, (volatile unsigned long long* count)) {
  *count = *count + 1;
  __threadfence_system();
}
