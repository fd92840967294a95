// Kernels that set conditions.
#include <reprise_kernel.hpp>

REPRISE_KERNEL(conf_increase, (unsigned* io, unsigned value, unsigned n)) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) io[i] += value;
}

REPRISE_KERNEL(conf_decide, (const unsigned* value, reprise_condition condition)) {
  reprise_set_condition(condition, *value);
}

// Adds 1 to every word; sets the condition while the first word is then below `end`.
REPRISE_KERNEL(conf_step, (unsigned* io, unsigned end, unsigned n, reprise_condition on)) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned value = io[i] + 1;
  io[i] = value;
  if (i == 0) reprise_set_condition(on, value < end ? 1u : 0u);
}

REPRISE_KERNEL(conf_count_down, (unsigned* counter, reprise_condition on)) {
  const unsigned remaining = *counter - 1;
  *counter = remaining;
  reprise_set_condition(on, remaining);
}

REPRISE_KERNEL(conf_is_odd, (const unsigned* value, reprise_condition odd)) {
  reprise_set_condition(odd, *value & 1u);
}
