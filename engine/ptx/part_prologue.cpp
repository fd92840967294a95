#include "ptx/part_prologue.hpp"

#include <array>
#include <cstddef>

#include "base/text.hpp"
#include "ptx/persistent_part.hpp"
#include "ptx/segment_record.hpp"

namespace reprise::detail {

namespace {

constexpr std::array<std::string_view, 4> kCoordinateNames = {"tid", "ntid", "ctaid", "nctaid"};

// By a multiplication: exact for dividends and divisors up to 1,024.
std::string divide(std::string_view dividend, std::string_view remainder, std::string_view quotient,
                   std::size_t factor, std::size_t divisor) {
  return concat("{ .reg .b32 %rp_m, %rp_d; ld.shared.u32 %rp_m, [%rp_rec+", factor,
                "]; ld.shared.u32 %rp_d, [%rp_rec+", divisor, "]; mul.lo.u32 ", quotient, ", ",
                dividend, ", %rp_m; shr.u32 ", quotient, ", ", quotient,
                ", 22; mul.lo.u32 %rp_d, %rp_d, ", quotient, "; sub.u32 ", remainder, ", ",
                dividend, ", %rp_d; }\n");
}

}  // namespace

std::string part_prologue(const PartNeeds& needs) {
  const auto reads = [&](std::string_view name) {
    return needs.registers.contains(std::string(name));
  };
  std::string text =
      ".reg .b32 %rp_threads, %rp_count, %rp_present, %rp_warp, %rp_dynamic, %rp_row, %rp_plane";
  for (const std::string_view name : kCoordinateNames)
    for (const char component : {'x', 'y', 'z'}) text += concat(", %rp_", name, component);
  text += ";\n.reg .b64 %rp_par; .reg .pred %rp_p;\n";
  if (!needs.has_full_warps || needs.counts_threads)
    text += concat("ld.shared.u32 %rp_threads, [%rp_rec]; shr.u32 %rp_threads, %rp_threads, ",
                   SegmentRecord::kThreadsShift,
                   "; and.b32 %rp_threads, %rp_threads, 1023; "
                   "add.u32 %rp_threads, %rp_threads, 1;\n");
  if (needs.counts_threads)
    text += "add.u32 %rp_count, %rp_threads, 31; and.b32 %rp_count, %rp_count, -32;\n";
  // The lanes of this warp that are threads of the block.
  if (needs.emulates_masks && !needs.has_full_warps)
    text +=
        "and.b32 %rp_present, %rp_thread, -32; sub.s32 %rp_present, %rp_threads, %rp_present; "
        "min.s32 %rp_present, %rp_present, 32; sub.s32 %rp_present, 32, %rp_present; "
        "shr.u32 %rp_present, -1, %rp_present;\n";
  if (needs.emulates_masks)
    text +=
        "shr.u32 %rp_warp, %rp_thread, 5; shl.b32 %rp_warp, %rp_warp, 3; "
        "add.u32 %rp_warp, %rp_warp, %rp_base;\n";
  const auto load = [&](std::string_view name, std::size_t offset) {
    for (std::size_t i = 0; i < 3; ++i)
      if (const std::string component = concat(name, "xyz"[i]); reads(component))
        text += concat("ld.shared.u32 %rp_", component, ", [%rp_rec+", offset + 4 * i, "];\n");
  };
  load("ctaid", offsetof(SegmentRecord, block));
  load("ntid", offsetof(SegmentRecord, block_dim));
  load("nctaid", offsetof(SegmentRecord, grid_dim));
  if (needs.reads_dynamic_size)
    text += concat("ld.shared.u32 %rp_dynamic, [%rp_rec+",
                   offsetof(SegmentRecord, dynamic_shared_bytes), "];\n");
  const bool needs_row = reads("tidy") || reads("tidz");
  if (needs.is_one_dimensional) {
    if (reads("tidx")) text += "mov.u32 %rp_tidx, %rp_thread;\n";
    if (reads("tidy")) text += "mov.u32 %rp_tidy, 0;\n";
    if (reads("tidz")) text += "mov.u32 %rp_tidz, 0;\n";
  } else if (reads("tidx") || needs_row) {
    text += divide("%rp_thread", "%rp_tidx", "%rp_row", offsetof(SegmentRecord, divide_x),
                   offsetof(SegmentRecord, block_dim));
    if (needs_row)
      text += concat(divide("%rp_row", "%rp_tidy", "%rp_plane", offsetof(SegmentRecord, divide_y),
                            offsetof(SegmentRecord, block_dim) + 4),
                     "mov.u32 %rp_tidz, %rp_plane;\n");
  }
  if (!needs.has_inline_parameters)
    text += concat("ld.shared.u64 %rp_par, [%rp_rec+", offsetof(SegmentRecord, parameters), "];\n");
  return text;
}

std::string part_start(const PartNeeds& needs) {
  if (needs.has_full_warps) return {};
  return "setp.ge.u32 %rp_p, %rp_thread, %rp_threads; @%rp_p bra $RP_RETURN;\n";
}

// Emulated masks no longer wait for returned lanes.
std::string part_epilogue(const PartNeeds& needs) {
  std::string text = "$RP_RETURN:\n";
  if (needs.has_async_copies) text += "cp.async.wait_all;\n";
  if (needs.emulates_masks)
    text +=
        "{ .reg .b32 %rp_x, %rp_y; mov.u32 %rp_y, %laneid; mov.u32 %rp_x, 1; "
        "shl.b32 %rp_x, %rp_x, %rp_y; membar.cta; red.shared.or.b32 [%rp_warp], %rp_x; }\n";
  if (needs.ends_together)
    text +=
        "$RP_AGAIN: { .reg .b32 %rp_x; .reg .pred %rp_q; .param .b32 rp_a; .param .b32 rp_b; "
        ".param .b32 rp_c; st.param.b32 [rp_a], 1; st.param.b32 [rp_b], %rp_count; "
        "call (rp_c), rp_barrier, (rp_a, rp_b); ld.param.b32 %rp_x, [rp_c]; "
        "setp.eq.u32 %rp_q, %rp_x, 0; @%rp_q bra $RP_AGAIN; }\n";
  if (needs.emulates_masks) text += "bar.warp.sync -1; st.volatile.shared.u32 [%rp_warp], 0;\n";
  text += "bar.warp.sync -1;\n";
  return text;
}

}  // namespace reprise::detail
