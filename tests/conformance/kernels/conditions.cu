// Kernels that set conditions.
#include <reprise_kernel.hpp>

REPRISE_KERNEL(conf_increase, (unsigned* io, unsigned value, unsigned n)) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) io[i] += value;
}

REPRISE_KERNEL(conf_decide, (const unsigned* value, reprise_condition condition)) {
  reprise_set_condition(condition, *value);
}

// Adds 1 to every word; on as long as the first one is below `end` then.
REPRISE_KERNEL(conf_step, (unsigned* io, unsigned end, unsigned n, reprise_condition on)) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned value = io[i] + 1;
  io[i] = value;
  if (i == 0) reprise_set_condition(on, value < end ? 1u : 0u);
}

REPRISE_KERNEL(conf_count_down, (unsigned* counter, reprise_condition on)) {
  const unsigned left = *counter - 1;
  *counter = left;
  reprise_set_condition(on, left);
}

REPRISE_KERNEL(conf_is_odd, (const unsigned* value, reprise_condition odd)) {
  reprise_set_condition(odd, *value & 1u);
}
