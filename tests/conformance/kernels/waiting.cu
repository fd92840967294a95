// A kernel that is over when somebody says so.
#include <reprise_kernel.hpp>

// Waits until flag[0] is set, and notes the value; gives up after `rounds` looks, and notes 0.
REPRISE_KERNEL(conf_wait, (unsigned* flag, unsigned* out, unsigned value, unsigned rounds)) {
  unsigned seen = 0;
  for (unsigned r = 0; r < rounds && seen == 0; ++r) {
#ifdef __CUDA_ARCH__
    seen = *static_cast<volatile unsigned*>(
        flag);  // in memory of the host, which no cache of the device keeps
#else
    seen = atomicOr(flag, 0u);
#endif
  }
  out[0] = seen == 0 ? 0u : value;
}
