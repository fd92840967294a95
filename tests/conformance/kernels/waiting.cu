// Kernels that run until the host sets a flag.
#include <reprise_kernel.hpp>

// Reads a flag that the host sets. The flag is in host memory, which device caches do not hold.
__device__ inline unsigned load_flag(unsigned* flag) {
#ifdef __CUDA_ARCH__
  return *static_cast<volatile unsigned*>(flag);
#else
  return atomicOr(flag, 0u);
#endif
}

// Polls flag[0] up to `rounds` times. Stores `value` once the flag is set, 0 if it is never set.
REPRISE_KERNEL(conf_wait, (unsigned* flag, unsigned* out, unsigned value, unsigned rounds)) {
  unsigned seen = 0;
  for (unsigned r = 0; r < rounds && seen == 0; ++r) seen = load_flag(flag);
  out[0] = seen == 0 ? 0u : value;
}

// One thread sets the first flag and waits until the host sets the second one.
REPRISE_KERNEL(conf_hold, (unsigned* flags, unsigned* out)) {
#ifdef __CUDA_ARCH__
  *static_cast<volatile unsigned*>(flags) = 1;
  __threadfence_system();
#else
  atomicExch(flags, 1u);
#endif
  while (load_flag(flags + 1) == 0) {
  }
  *out = 3;
}
