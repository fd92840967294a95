// The node of a task graph: busy for `spin_ns` on a GPU, in any number of blocks.
#include <reprise_kernel.hpp>

#include "spin.hpp"

REPRISE_KERNEL(task, (unsigned spin_ns, float*)) { reprise_bench::spin(spin_ns); }
