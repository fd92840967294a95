// Labels of NVTX ranges: the range names of XLA, PyTorch and other well-known programs contain
// properties of one call, such as numbers and shapes, which a label omits. Threads: a pure
// function.
#pragma once

#include <cstdint>
#include <string_view>

namespace reprise::detail {

struct RangeName {
  std::string_view label;  // a part of the name
  // Module: a compiled program, whose name the graphs get that are instantiated in the range.
  enum class Kind : std::uint8_t { Range, Module } kind = Kind::Range;
};

// "jit_loop" for "XlaModule:#hlo_module=jit_loop,program_id=28455#"; any other name unchanged.
[[nodiscard]] RangeName range_name(std::string_view name);

}  // namespace reprise::detail
