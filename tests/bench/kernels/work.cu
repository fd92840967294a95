// A node that computes for a while, on either device: as many dependent multiplications as it is
// told. It comes after two others.
#include <reprise_kernel.hpp>

REPRISE_KERNEL(work,
               (unsigned steps, unsigned* state, const unsigned* one, const unsigned* other)) {
  if (threadIdx.x != 0) return;
  unsigned value = *one + *other;
  for (unsigned i = 0; i < steps; ++i) value = value * 1664525u + 1013904223u;
  *state = value;
}
