// Kernels of one thread that note the GPU's clock while a graph runs. Replays of one graph follow
// each other, so that nothing here is touched twice at once. The first stamp is one store, the last
// one a load and four stores, without a fence: each pair of words is written in one piece, so that
// whoever reads sees by the numbers what belongs together. A ring is the number of replays that
// ended, when the one under way began (0: that was not noted, and its end is none to note), two
// words of nothing, and then slots of four words: the replay's number, its begin, the number again,
// its end; `mask` is slots - 1. See stamp_ring.hpp, node_stamps.hpp and body_stamps.hpp.
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
// What comes after this kernel by a programmatic edge may start.
static __device__ __forceinline__ void timestamp_let_go() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}
#else
static inline void timestamp_let_go() {}
static inline unsigned long long timestamp_now() { return 0; }
static inline void timestamp_pair(unsigned long long* at, unsigned long long replay,
                                  unsigned long long time) {
  at[0] = replay;
  at[1] = time;
}
#endif

// `mask` is for the last one, which takes the same.
REPRISE_KERNEL(reprise_timestamp_begin, (unsigned long long* ring, unsigned long long)) {
  ring[1] = timestamp_now();
  timestamp_let_go();
}

REPRISE_KERNEL(reprise_timestamp_end, (unsigned long long* ring, unsigned long long mask)) {
  const unsigned long long now = timestamp_now(), replay = ring[0] + 1, began = ring[1];
  if (began == 0) return;
  unsigned long long* const slot = ring + 4 + (replay & mask) * 4;
  timestamp_pair(slot, replay, began);
  timestamp_pair(slot + 2, replay, now);
  timestamp_pair(ring, replay, 0);
}

// Stands behind `node`; `times` has rows of `nodes` words, a replay each in turn.
REPRISE_KERNEL(reprise_timestamp_node, (const unsigned long long* ring, unsigned long long* times,
                                        unsigned rows, unsigned nodes, unsigned node)) {
  const unsigned long long now = timestamp_now();
  times[((ring[0] + 1) % rows) * nodes + node] = now;
}

// Before everything in a body, each round of it. A row has `words` words, those of this body from
// `body` on: the replay and in its lower half how often the body ran in it, then for each of the
// first `kept` rounds when it began and when each of its `nodes` ended.
REPRISE_KERNEL(reprise_timestamp_round,
               (const unsigned long long* ring, unsigned long long* times, unsigned rows,
                unsigned words, unsigned body, unsigned nodes, unsigned kept)) {
  const unsigned long long now = timestamp_now(), replay = ring[0] + 1;
  unsigned long long* const at = times + (replay % rows) * words + body;
  const unsigned long long head = at[0];
  const unsigned round = head >> 32 == (replay & 0xffffffffu) ? (unsigned)(head & 0xffffffffu) : 0u;
  at[0] = replay << 32 | (round == 0xffffffffu ? round : round + 1u);
  if (round < kept) at[1 + (unsigned long long)round * (nodes + 1ull)] = now;
}

// Stands behind `node` of a body.
REPRISE_KERNEL(reprise_timestamp_inside,
               (const unsigned long long* ring, unsigned long long* times, unsigned rows,
                unsigned words, unsigned body, unsigned nodes, unsigned kept, unsigned node)) {
  const unsigned long long now = timestamp_now(), replay = ring[0] + 1;
  unsigned long long* const at = times + (replay % rows) * words + body;
  const unsigned round = (unsigned)(at[0] & 0xffffffffu) - 1u;
  if (round < kept) at[2 + (unsigned long long)round * (nodes + 1ull) + node] = now;
}

// Answers with the GPU's clock whenever the host has put the next number into mailbox[0]; gives up
// `patience` ns after the last one.
REPRISE_KERNEL(reprise_clock_echo, (volatile unsigned long long* mailbox, unsigned rounds,
                                    unsigned long long patience)) {
  for (unsigned round = 1; round <= rounds; ++round) {
    const unsigned long long began = timestamp_now();
    unsigned long long now = began;
    while (mailbox[0] < round) {
      now = timestamp_now();
      if (now - began > patience) return;
    }
    mailbox[round] = timestamp_now();
    __threadfence_system();
  }
}
