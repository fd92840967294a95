// The nodes of every bench graph: they do nothing, or hold their place for `spin_ns` on a GPU. nodeN reads N buffers.
#include <reprise_kernel.hpp>

__device__ inline void spin(unsigned nanoseconds) {
#ifdef __CUDACC__
  if (nanoseconds == 0) return;
  unsigned long long begin, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
  do {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  } while (now - begin < nanoseconds);
#else
  (void)nanoseconds;
#endif
}

REPRISE_KERNEL(node0, (unsigned spin_ns, float*)) { spin(spin_ns); }
REPRISE_KERNEL(node1, (unsigned spin_ns, float*, const float*)) { spin(spin_ns); }
REPRISE_KERNEL(node2, (unsigned spin_ns, float*, const float*, const float*)) { spin(spin_ns); }
REPRISE_KERNEL(node3, (unsigned spin_ns, float*, const float*, const float*, const float*)) { spin(spin_ns); }
REPRISE_KERNEL(node4, (unsigned spin_ns, float*, const float*, const float*, const float*, const float*)) { spin(spin_ns); }
