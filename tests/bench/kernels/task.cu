// The node of a task graph: it holds its place for `spin_ns` on a GPU, in as many blocks as it is
// given.
#include <reprise_kernel.hpp>

#include "spin.hpp"

REPRISE_KERNEL(task, (unsigned spin_ns, float*)) { reprise_bench::spin(spin_ns); }
