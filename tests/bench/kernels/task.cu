// The node of a task graph: it holds its place for `spin_ns` on a GPU, in as many blocks as it is given.
#include <reprise_kernel.hpp>

REPRISE_KERNEL(task, (unsigned spin_ns, float*)) {
#ifdef __CUDACC__
  if (spin_ns == 0) return;
  unsigned long long begin, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
  do {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  } while (now - begin < spin_ns);
#else
  (void)spin_ns;
#endif
}
