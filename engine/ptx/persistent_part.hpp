// Rewrites a kernel, or a function that kernels call, into a part of a persistent kernel. Knows
// neither the loop nor other parts. Threads: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/persistent_kernel.hpp"
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

struct RewriteOptions {
  bool is_timed = false;
  bool may_contract = false;         // of the part
  std::string function_prefix = {};  // of the functions of the part's module
  VariableAddress address_of = {};
};

// The statements of a part. They read %rp_rec (the record), %rp_thread, %rp_base (dynamic shared
// memory), %rp_sync (whether a barrier precedes the part), %rp_stamp if timed (where the warp
// stores its end) and rp_depot (local memory), and belong between braces. All threads of all warps
// that have threads of the block execute them, and all have converged at the end.
struct RewrittenPart {
  std::string problem = {};  // why the kernel cannot be a part; empty: it can
  std::string text = {};
  PersistentKernel::Part part = {};
  std::uint32_t local_bytes = 0, local_alignment = 1;
  std::vector<const PtxFunction*> functions = {};  // that the kernel calls
};
[[nodiscard]] RewrittenPart rewrite_part(const PersistentPart& part, const RewriteOptions& options);

struct RewrittenFunction {
  std::string problem;
  std::string declaration;  // without a semicolon
  std::string body;         // with its braces; empty: the driver defines the function
  std::vector<const PtxFunction*> functions;  // that it calls
};
[[nodiscard]] RewrittenFunction rewrite_function(const PtxModule& module,
                                                 const PtxFunction& function,
                                                 const RewriteOptions& options);

}  // namespace reprise::detail
