// A kernel that runs until the host sets a flag.
#include <reprise_kernel.hpp>

// Polls flag[0] up to `rounds` times. Stores `value` once the flag is set, 0 if it is never set.
REPRISE_KERNEL(conf_wait, (unsigned* flag, unsigned* out, unsigned value, unsigned rounds)) {
  unsigned seen = 0;
  for (unsigned r = 0; r < rounds && seen == 0; ++r) {
#ifdef __CUDA_ARCH__
    // The flag is in host memory, which device caches do not hold.
    seen = *static_cast<volatile unsigned*>(flag);
#else
    seen = atomicOr(flag, 0u);
#endif
  }
  out[0] = seen == 0 ? 0u : value;
}
