// Makes one persistent kernel of the PTX of ordinary kernels, without changes to their sources. Its
// blocks run lists of SegmentRecords: coordinates, parameters, barriers and shared memory of a
// kernel become those of a record. Knows no device. Threads: pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ptx/persistent_part.hpp"

namespace reprise::detail {

struct PersistentKernelDesc {
  // Without problems; at most 1,024, the most frequent ones first.
  std::span<const RewrittenPart* const> parts = {};
  std::uint32_t threads = 128;            // per persistent block; a multiple of 32
  std::uint32_t blocks_per_multiprocessor = 4;
  std::uint32_t pasted = 3;  // parts that the loop contains; it calls the others
  enum class Variant : std::uint8_t {
    Plain,
    Timed,   // writes the SegmentRecordTimes of each record
    Marked,  // writes the SegmentMarks of each list
    Loop     // repeats while a condition is set, which its records set
  } variant = Variant::Plain;
};

struct PersistentKernel {
  // PTX with the entry kEntry and the parameters: records, first record of each list and the end of
  // the last list (u32), counters (u32), state, more waits; each a 64-bit address. State: word 0 is
  // the number of completed runs, word 32 counts blocks that have ended.
  // Timed, four more: the address of a table of times; that of the number of replays before
  // this one (u64); the number of the table's rows less one (u32), and their size in bytes (u32).
  // The number of rows is a power of two. Replay r, from 1, writes row r modulo their number, which
  // has the SegmentRecordTimes of all records in their order.
  // Marked, one more: the address of the SegmentMarks, those of each list together, in memory
  // that the host reads while the kernel runs and after it failed.
  // Loop, three more: the address of the condition (u32), which is 1 before and afterwards;
  // that of the counters of a loop, as reprise_loop_iterate counts; the maximum number of
  // iterations (u64), 0: no limit.
  static constexpr const char* kEntry = "reprise_segment";
  std::string text;
  std::vector<RewrittenPart::Facts> parts;
  std::uint32_t shared_base = 0;  // bytes of dynamic shared memory before that of the parts
};
[[nodiscard]] PersistentKernel make_persistent_kernel(const PersistentKernelDesc& desc);

}  // namespace reprise::detail
