// The nodes of the benchmark graphs: empty, or busy for `spin_ns` on a GPU. nodeN reads N buffers.
#include <reprise_kernel.hpp>

#include "spin.hpp"

using reprise_bench::spin;

REPRISE_KERNEL(node0, (unsigned spin_ns, float*)) { spin(spin_ns); }
REPRISE_KERNEL(node1, (unsigned spin_ns, float*, const float*)) { spin(spin_ns); }
REPRISE_KERNEL(node2, (unsigned spin_ns, float*, const float*, const float*)) { spin(spin_ns); }
REPRISE_KERNEL(node3, (unsigned spin_ns, float*, const float*, const float*, const float*)) {
  spin(spin_ns);
}
REPRISE_KERNEL(node4,
               (unsigned spin_ns, float*, const float*, const float*, const float*, const float*)) {
  spin(spin_ns);
}
