// Rewrites a kernel and the functions that it calls into a part of a persistent kernel. Knows
// neither the loop nor other parts. Threads: pure functions.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/ptx_module.hpp"
#include "ptx/segment_record.hpp"

namespace reprise::detail {

// Dynamic shared memory of a persistent block: two words for each warp, which say which of its
// lanes have returned from the part and which have arrived at an instruction of the warp; the ring
// of records, with one that is read too far; the shared variables of the parts.
constexpr std::uint32_t kRingOffset = 256;
constexpr std::uint32_t kRingBytes = (2 * SegmentRecord::kChunk + 1) * sizeof(SegmentRecord);
constexpr std::uint32_t kSharedAlignment = 128;
constexpr std::uint32_t kSharedBase =
    (kRingOffset + kRingBytes + kSharedAlignment - 1) / kSharedAlignment * kSharedAlignment;

// Thread 0 writes the time at the start of a part; see SegmentRecordTimes. No branch, which costs
// more than the instructions that it skips.
constexpr std::string_view kPersistentStartTime =
    "{ .reg .b32 %rp_q; .reg .pred %rp_z; setp.eq.u32 %rp_z, %rp_thread, 0; "
    "@%rp_z mov.u32 %rp_q, %globaltimer_lo; @%rp_z st.global.u32 [%rp_stamp+-8], %rp_q; }\n";

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

// Precedes the names of a module's functions in rewritten text: the persistent kernel puts the
// number of the module here.
constexpr char kModuleMark = '\x01';

struct RewrittenFunction {
  const PtxFunction* function = nullptr;
  std::string declaration;  // without a semicolon
  std::string body;         // with its braces; empty: the driver defines the function
};

// The statements of a part. They read %rp_rec (the record), %rp_thread, %rp_base (dynamic shared
// memory), %rp_sync (whether a barrier precedes the part) and rp_depot (local memory), and belong
// between braces. All threads of all warps that have threads of the block execute them, and all
// have converged at the end.
struct RewrittenPart {
  // Properties of the part that the writer of records uses.
  struct Facts {
    std::uint32_t parameter_bytes = 0;
    bool has_inline_parameters = true;  // else SegmentRecord::parameters holds their address
    std::uint32_t static_shared_bytes = 0;
    bool uses_shared = false;    // static or dynamic shared memory
    bool has_barriers = false;   // of the block
    bool ends_together = false;  // all threads have passed a barrier after the last access
  };

  PersistentPart of = {};
  // Why the kernel cannot be a part: the construct, for a report. Empty: it can.
  std::string problem = {};
  // `start` ends after the barrier that precedes the part, where its time starts.
  std::string start = {}, text = {};
  Facts facts = {};
  std::uint32_t local_bytes = 0, local_alignment = 1;
  std::vector<RewrittenFunction> functions = {};  // that the kernel calls, and those that they call
};
[[nodiscard]] RewrittenPart rewrite_part(const PersistentPart& part,
                                         const VariableAddress& address_of);

}  // namespace reprise::detail
