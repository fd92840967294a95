// One-thread kernels that record the GPU's clock while a graph runs. Replays of one graph are
// serialised, so accesses do not overlap. The start timestamp costs one store, the end timestamp
// two loads and three paired stores, without a fence. Each pair of words is written in one
// transaction, so a reader can match the words by replay number.
// Ring layout: number of ended replays; start of the current replay (0: not recorded, and its end
// is ignored); two unused words; then slots of four words: replay number, start, replay number,
// end. `mask` is slots - 1. See timestamp_ring.hpp, node_timestamps.hpp and body_timestamps.hpp.
#include <reprise_kernel.hpp>

#ifdef __CUDACC__
static __device__ __forceinline__ unsigned long long timestamp_now() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}
static __device__ __forceinline__ void timestamp_pair(unsigned long long* at,
                                                      unsigned long long replay,
                                                      unsigned long long time) {
  *reinterpret_cast<ulonglong2*>(at) = make_ulonglong2(replay, time);
}
// Lets nodes behind a programmatic edge start.
static __device__ __forceinline__ void timestamp_start_successors() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}
#else
static inline void timestamp_start_successors() {}
static inline unsigned long long timestamp_now() { return 0; }
static inline void timestamp_pair(unsigned long long* at, unsigned long long replay,
                                  unsigned long long time) {
  at[0] = replay;
  at[1] = time;
}
#endif

// The second parameter is unused: both boundary kernels take the same parameters.
REPRISE_KERNEL(reprise_timestamp_begin, (unsigned long long* ring, unsigned long long)) {
  ring[1] = timestamp_now();
  timestamp_start_successors();
}

REPRISE_KERNEL(reprise_timestamp_end, (unsigned long long* ring, unsigned long long mask)) {
  const unsigned long long now = timestamp_now(), replay = ring[0] + 1, began = ring[1];
  if (began == 0) return;
  unsigned long long* const slot = ring + 4 + (replay & mask) * 4;
  timestamp_pair(slot, replay, began);
  timestamp_pair(slot + 2, replay, now);
  timestamp_pair(ring, replay, 0);
}

// Runs after `node`. `times` has `rows` rows of `nodes` words; replays use the rows in turn.
REPRISE_KERNEL(reprise_timestamp_node, (const unsigned long long* ring, unsigned long long* times,
                                        unsigned rows, unsigned nodes, unsigned node)) {
  const unsigned long long now = timestamp_now();
  times[((ring[0] + 1) % rows) * nodes + node] = now;
}

// Runs at the start of a body, in each iteration. A row has `words` words; those of this body start
// at `body`: a head with the replay number and, in its lower half, the iteration count; then, for
// each of the first `kept` iterations, its start and the ends of its `nodes` nodes.
REPRISE_KERNEL(reprise_timestamp_iteration,
               (const unsigned long long* ring, unsigned long long* times, unsigned rows,
                unsigned words, unsigned body, unsigned nodes, unsigned kept)) {
  const unsigned long long now = timestamp_now(), replay = ring[0] + 1;
  unsigned long long* const at = times + (replay % rows) * words + body;
  const unsigned long long head = at[0];
  const unsigned iteration =
      head >> 32 == (replay & 0xffffffffu) ? (unsigned)(head & 0xffffffffu) : 0u;
  at[0] = replay << 32 | (iteration == 0xffffffffu ? iteration : iteration + 1u);
  if (iteration < kept) at[1 + (unsigned long long)iteration * (nodes + 1ull)] = now;
}

// Runs after `node` of a body.
REPRISE_KERNEL(reprise_timestamp_body_node,
               (const unsigned long long* ring, unsigned long long* times, unsigned rows,
                unsigned words, unsigned body, unsigned nodes, unsigned kept, unsigned node)) {
  const unsigned long long now = timestamp_now(), replay = ring[0] + 1;
  unsigned long long* const at = times + (replay % rows) * words + body;
  const unsigned iteration = (unsigned)(at[0] & 0xffffffffu) - 1u;
  if (iteration < kept) at[2 + (unsigned long long)iteration * (nodes + 1ull) + node] = now;
}

// Answers with the GPU's clock whenever the host stores the next number in mailbox[0]. Exits
// `timeout` ns after the last answer.
REPRISE_KERNEL(reprise_clock_echo, (volatile unsigned long long* mailbox, unsigned iterations,
                                    unsigned long long timeout)) {
  for (unsigned iteration = 1; iteration <= iterations; ++iteration) {
    const unsigned long long began = timestamp_now();
    unsigned long long now = began;
    while (mailbox[0] < iteration) {
      now = timestamp_now();
      if (now - began > timeout) return;
    }
    mailbox[iteration] = timestamp_now();
    __threadfence_system();
  }
}
