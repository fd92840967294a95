#include <reprise_kernel.hpp>

// One step of a series: the previous value times `factor` plus `term`.
REPRISE_KERNEL(step, (const unsigned* before, unsigned* after, unsigned factor, unsigned term,
                      unsigned n)) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) after[i] = before[i] * factor + term;
}

// The same step with the term in device memory.
REPRISE_KERNEL(step_by, (const unsigned* before, unsigned* after, unsigned factor,
                         const unsigned* term, unsigned n)) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) after[i] = before[i] * factor + *term;
}
