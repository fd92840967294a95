// Kernels for launches that not every device has: cooperative ones and clusters. Where the device
// has none, a recording that asks for them is refused, so what the host device would run never runs
// there.
#include <reprise_kernel.hpp>

// Every block adds itself, waits until all have, and notes how many it then sees: all, if the whole
// grid runs at once.
REPRISE_KERNEL(conf_meet_all, (unsigned* arrived, unsigned* seen)) {
#ifdef __CUDACC__
  if (threadIdx.x == 0) {
    atomicAdd(arrived, 1u);
    while (*static_cast<volatile unsigned*>(arrived) < gridDim.x) {
    }
    seen[blockIdx.x] = *static_cast<volatile unsigned*>(arrived);
  }
#else
  if (threadIdx.x == 0) seen[blockIdx.x] = atomicAdd(arrived, 1u);
#endif
}

// out[block] = blocks of its cluster.
REPRISE_KERNEL(conf_cluster_size, (unsigned* out)) {
  unsigned size = 1;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(size));
#endif
  if (threadIdx.x == 0) out[blockIdx.x] = size;
}
