// Kernels for cooperative and cluster launches, which not every device supports. Validation refuses
// unsupported launches, so the host versions of these kernels never run.
#include <reprise_kernel.hpp>

// Each block increments `arrived`, waits until all blocks have arrived and stores the count, which
// equals the grid size if all blocks are resident together.
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

// out[block] = the number of blocks in its cluster.
REPRISE_KERNEL(conf_cluster_size, (unsigned* out)) {
  unsigned size = 1;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(size));
#endif
  if (threadIdx.x == 0) out[blockIdx.x] = size;
}
