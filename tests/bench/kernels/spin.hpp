// Keeps a node busy for a given time on a GPU. Does nothing on the host device.
#pragma once

#include <reprise_kernel.hpp>

namespace reprise_bench {

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

}  // namespace reprise_bench
