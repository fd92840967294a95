// SegmentRecord: one block of a dispatch, as input of a persistent kernel. The host writes the
// records of each list in order; the kernel reads them in chunks. SegmentRecordTimes: its times.
// SegmentMark: the progress of a warp. Threads: values.
#pragma once

#include <cstddef>
#include <cstdint>

namespace reprise::detail {

inline constexpr std::uint32_t kWarp = 32;  // threads

struct SegmentRecord {
  // Bits of `word` besides the kernel (0 to 9) and the threads of the block less one (10 to 19).
  static constexpr std::uint32_t kPartMask = 0x3ff, kThreadsShift = 10;
  static constexpr std::uint32_t kSync = 1u << 20;     // a barrier of the persistent block first
  static constexpr std::uint32_t kWaits = 1u << 21;    // waits for counters; includes kSync
  static constexpr std::uint32_t kPublish = 1u << 23;  // increments `counter` afterwards
  static constexpr std::uint32_t kFull = 1u << 24;     // as many warps as the persistent block
  static constexpr std::uint32_t kLast = 1u << 29;     // of its chunk or its list
  static constexpr std::uint32_t kPost = 1u << 30;     // publishes or is the last
  static constexpr std::uint32_t kSlow = 1u << 31;     // not just kSync and kFull
  // Larger parameter blocks are in device memory, and `parameters` holds their address.
  static constexpr std::uint32_t kInlineBytes = 96;
  static constexpr std::uint32_t kChunk = 32;  // records
  static constexpr std::uint32_t kWaitsInside = 4;

  // A wait ends when the counter reaches the count times the number of the replay.
  struct Wait {
    std::uint32_t counter = 0, count = 0;
  };

  std::uint32_t word = 0;
  std::uint32_t counter = 0;
  std::uint32_t waits = 0;       // number of waits
  std::uint32_t more_waits = 0;  // in the table of waits: those after the first four
  std::uint32_t block[3] = {};   // blockIdx
  std::uint32_t divide_x = 0;    // 2^22 / blockDim.x + 1: divides by a multiplication
  std::uint32_t block_dim[3] = {};
  std::uint32_t divide_y = 0;
  std::uint32_t grid_dim[3] = {};
  std::uint32_t dynamic_shared_bytes = 0;
  Wait first_waits[kWaitsInside] = {};
  std::byte parameters[kInlineBytes] = {};
};
static_assert(sizeof(SegmentRecord) == 192);

// Times of one record in one replay, which a timed persistent kernel writes. Unit: ns of
// %globaltimer_lo.
struct SegmentRecordTimes {
  static constexpr std::uint32_t kWarps = 6;
  alignas(std::uint64_t) std::uint32_t started = 0;
  std::uint32_t multiprocessor = 0;  // only of the first record of a list
  // By warp that has threads of the block. Warps from kWarps - 1 on share the last word: the last
  // one to end sets it.
  std::uint32_t ended[kWarps] = {};
};
static_assert(sizeof(SegmentRecordTimes) == 32);

// Progress of one warp of a list, which a marked persistent kernel stores: the current record, the
// number of the kernel's run, from 1, and the state.
struct SegmentMark {
  static constexpr std::uint32_t kWarps = 16;  // of a persistent block at most
  static constexpr std::uint32_t kStateBits = 2, kStateMask = 3;
  // Only the first warp waits for counters.
  static constexpr std::uint32_t kWaiting = 1, kRunning = 2, kEnded = 3;
  alignas(std::uint64_t) std::uint32_t record = 0;
  std::uint32_t run_and_state = 0;  // 0: nothing yet

  [[nodiscard]] std::uint32_t state() const noexcept { return run_and_state & kStateMask; }
  [[nodiscard]] std::uint32_t run() const noexcept { return run_and_state >> kStateBits; }
};

}  // namespace reprise::detail
