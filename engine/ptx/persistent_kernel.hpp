// Makes one persistent kernel of the PTX of ordinary kernels, without changes to their sources. Its
// blocks run lists of SegmentRecords: coordinates, parameters, barriers and shared memory of a
// kernel become those of a record. Knows no device. Threads: pure functions.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/ptx_module.hpp"

namespace reprise::detail {

// A kernel with the shape of the blocks that it is used with.
struct PersistentPart {
  const PtxModule* module = nullptr;
  std::string entry;
  bool has_full_warps = false;      // a multiple of 32 threads in every block
  bool is_one_dimensional = false;  // every block is (n, 1, 1)
  bool may_contract = false;        // as in KernelPtx

  friend bool operator==(const PersistentPart&, const PersistentPart&) = default;
};

// The address of a __device__ or __constant__ variable of a part's module in the image that the
// ordinary kernels use; none: the image does not have it.
using VariableAddress = std::function<std::optional<std::uint64_t>(std::string_view variable)>;

// Why a kernel cannot be a part of a persistent kernel: the construct, for a report. Empty: it can.
[[nodiscard]] std::string persistent_exclusion(const PersistentPart& part,
                                               const VariableAddress& address_of);

struct PersistentKernelDesc {
  std::span<const PersistentPart> parts;  // at most 1,024; the most frequent ones first
  std::uint32_t threads = 128;            // per persistent block; a multiple of 32
  std::uint32_t blocks_per_multiprocessor = 4;
  std::uint32_t pasted = 3;  // parts that the loop contains; it calls the others
  enum class Variant : std::uint8_t {
    Plain,
    Timed,   // writes the SegmentRecordTimes of each record
    Marked,  // writes the SegmentMarks of each list
    Loop     // repeats while a condition is set, which its records set
  } variant = Variant::Plain;
  // The VariableAddress of a part. All addresses are known.
  std::function<std::optional<std::uint64_t>(const PersistentPart&, std::string_view variable)>
      address_of;
};

struct PersistentKernel {
  // What the writer of records needs to know of a part.
  struct Part {
    std::uint32_t parameter_bytes = 0;
    bool has_inline_parameters = true;  // else SegmentRecord::parameters holds their address
    std::uint32_t static_shared_bytes = 0;
    bool uses_shared = false;    // static or dynamic shared memory
    bool has_barriers = false;   // of the block
    bool ends_together = false;  // all threads have passed a barrier after the last access
  };

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
  std::vector<Part> parts;
  std::uint32_t shared_base = 0;  // bytes of dynamic shared memory before that of the parts
};
// All parts can be parts (see persistent_exclusion(), with the same addresses).
[[nodiscard]] PersistentKernel make_persistent_kernel(const PersistentKernelDesc& desc);

}  // namespace reprise::detail
