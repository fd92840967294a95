// Small kernels over words, of which the suite makes its graphs.
#include <reprise_kernel.hpp>

REPRISE_KERNEL(conf_set, (unsigned* out, unsigned value, unsigned n)) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = value;
}

REPRISE_KERNEL(conf_add, (const unsigned* in, unsigned* out, unsigned value, unsigned n)) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] + value;
}

// A step that keeps every earlier step in its result, so that another order gives another result.
REPRISE_KERNEL(conf_mix, (const unsigned* in, unsigned* io, unsigned salt, unsigned n)) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) io[i] = io[i] * 1664525u + (in[i] ^ salt) + 1013904223u;
}

// The same with itself as the only input, `rounds` times: work that takes a while.
REPRISE_KERNEL(conf_churn, (unsigned* io, unsigned rounds, unsigned n)) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned value = io[i];
  for (unsigned r = 0; r < rounds; ++r) value = value * 1664525u + 1013904223u;
  io[i] = value;
}

// Tells where `words` is, for a kernel that goes there without saying so.
REPRISE_KERNEL(conf_tell_address, (unsigned* words, unsigned long long* where)) {
  if (blockIdx.x == 0 && threadIdx.x == 0) *where = reinterpret_cast<unsigned long long>(words);
}

REPRISE_KERNEL(conf_add_from_address,
               (const unsigned long long* where, unsigned* out, unsigned value, unsigned n)) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = reinterpret_cast<const unsigned*>(*where)[i] + value;
}

// conf_mix for a dispatch with .start = Early: it lets others start at once, and waits before it
// touches memory.
REPRISE_KERNEL(conf_mix_early, (const unsigned* in, unsigned* io, unsigned salt, unsigned n)) {
  reprise_trigger_successors();
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  reprise_wait_for_predecessors();
  if (i < n) io[i] = io[i] * 1664525u + (in[i] ^ salt) + 1013904223u;
}
