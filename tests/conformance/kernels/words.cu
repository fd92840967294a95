// Small kernels over arrays of words, from which the suite builds its graphs.
#include <reprise_kernel.hpp>

REPRISE_KERNEL(conf_set, (unsigned* out, unsigned value, unsigned n)) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = value;
}

REPRISE_KERNEL(conf_add, (const unsigned* in, unsigned* out, unsigned value, unsigned n)) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] + value;
}

// A non-commutative step: the result depends on the order of all steps.
REPRISE_KERNEL(conf_mix, (const unsigned* in, unsigned* io, unsigned salt, unsigned n)) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) io[i] = io[i] * 1664525u + (in[i] ^ salt) + 1013904223u;
}

// Runs `rounds` steps on `io` alone: long-running work.
REPRISE_KERNEL(conf_churn, (unsigned* io, unsigned rounds, unsigned n)) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned value = io[i];
  for (unsigned r = 0; r < rounds; ++r) value = value * 1664525u + 1013904223u;
  io[i] = value;
}

// Stores the address of `words` for a kernel that accesses it without declaring the access.
REPRISE_KERNEL(conf_store_address, (unsigned* words, unsigned long long* address)) {
  if (blockIdx.x == 0 && threadIdx.x == 0) *address = reinterpret_cast<unsigned long long>(words);
}

REPRISE_KERNEL(conf_add_from_address,
               (const unsigned long long* address, unsigned* out, unsigned value, unsigned n)) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = reinterpret_cast<const unsigned*>(*address)[i] + value;
}

// conf_mix for a dispatch with Start::Programmatic: triggers its successors immediately and waits
// for its predecessors before it accesses memory.
REPRISE_KERNEL(conf_mix_early, (const unsigned* in, unsigned* io, unsigned salt, unsigned n)) {
  reprise_trigger_successors();
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  reprise_wait_for_predecessors();
  if (i < n) io[i] = io[i] * 1664525u + (in[i] ^ salt) + 1013904223u;
}
