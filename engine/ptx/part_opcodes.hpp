// Classifies opcodes and directives for the rewriter of parts: which ones a part cannot contain and
// which ones it must replace. Knows no operands. Threads: pure functions.
#pragma once

#include <string>
#include <string_view>

namespace reprise::detail {

// Instructions whose effect or scope is another one in a part, or that use units and proxies for
// which the end of a kernel is a fence.
[[nodiscard]] bool is_excluded_opcode(std::string_view opcode);
// The first directive of a kernel that excludes it, among those that follow the parameters. Empty:
// none does.
[[nodiscard]] std::string_view find_excluded_directive(std::string_view directives);

// Functions that the driver defines.
[[nodiscard]] bool is_system_function(std::string_view name);

// Instructions without effects, which may precede the barrier between two parts.
[[nodiscard]] bool is_pure_opcode(std::string_view opcode);

// Barriers at which the threads of a block wait.
[[nodiscard]] bool is_block_barrier(std::string_view opcode);

// Instructions of a warp whose last operand is a mask of lanes.
[[nodiscard]] bool has_lane_mask(std::string_view opcode);

// Additions, subtractions and multiplications of floating-point numbers without a rounding mode,
// pairs of which a compiler may contract to one fused instruction.
[[nodiscard]] bool may_be_contracted(std::string_view opcode);
// Such an opcode with its default rounding mode, which excludes contraction.
[[nodiscard]] std::string with_rounding_mode(std::string_view opcode);

// The opcode for memory that kernels of the same replay write, and in which constants are global
// variables: without .nc after ld.global, and with .global for .const.
[[nodiscard]] std::string with_plain_space(std::string_view opcode);

// The opcode with `space`, .shared or .global, for .param and .param::entry.
[[nodiscard]] std::string with_parameter_space(std::string_view opcode, std::string_view space);

}  // namespace reprise::detail
