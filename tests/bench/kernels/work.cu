// A node that computes on either device: performs the given number of dependent multiplications.
// Has two predecessors.
#include <reprise_kernel.hpp>

REPRISE_KERNEL(work,
               (unsigned steps, unsigned* state, const unsigned* one, const unsigned* other)) {
  if (threadIdx.x != 0) return;
  unsigned value = *one + *other;
  for (unsigned i = 0; i < steps; ++i) value = value * 1664525u + 1013904223u;
  *state = value;
}
