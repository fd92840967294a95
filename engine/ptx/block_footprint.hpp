// derive_footprint: the bytes that each block of a dispatch can access through the addresses in its
// parameters, derived from the kernel's PTX by abstract interpretation with the recorded grid,
// block and arguments. Threads: pure functions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ptx/block_value.hpp"
#include "ptx/footprint_program.hpp"

namespace reprise::detail {

// A dispatch, as far as it determines a footprint.
struct FootprintLaunch {
  GridBlocks grid = {1, 1, 1};
  std::array<std::uint32_t, 3> block = {1, 1, 1};
  std::span<const std::byte> parameters = {};
  struct Range {
    std::uint32_t offset = 0, bytes = 0;  // in the parameters
  };
  std::span<const std::uint32_t> pointers = {};  // offsets of the addresses of buffers
  std::span<const Range> unknown = {};           // values that can change between replays
};

// Block b accesses at most bytes [begin + s, end + s), where s is the sum of step[d] * b[d], and of
// those only the bytes in [lowest, highest). Bytes count from the address in the parameter.
struct BlockBytes {
  std::array<std::int64_t, 3> step = {};
  std::int64_t begin = 0, end = 0, lowest = 0, highest = 0;

  friend bool operator==(const BlockBytes&, const BlockBytes&) = default;
};

struct PointerFootprint {
  std::vector<BlockBytes> bytes;  // that blocks can read or write; their union
  bool is_unbounded = false;      // any byte of the buffer

  friend bool operator==(const PointerFootprint&, const PointerFootprint&) = default;
};

// An address that is computed from a parameter is assumed to be in that parameter's buffer.
struct Footprint {
  // Why every block can access all that the dispatch declares; empty: see `pointers`.
  std::string problem = {};
  std::vector<PointerFootprint> pointers = {};  // by FootprintLaunch::pointers
  // The same by row of threads, for the blocks of all columns of the grid but the last one, and for
  // those of the last one: step[2] is for threadIdx.y. Empty unless the grid has several columns,
  // and it or a block several rows, and neither has a third dimension.
  std::array<std::vector<PointerFootprint>, 2> rows = {};
};

// Never leaves out a byte that a block can access. Cost: at most kMaxFootprintSteps instructions.
[[nodiscard]] Footprint derive_footprint(const FootprintProgram& program,
                                         const FootprintLaunch& launch);
inline constexpr std::uint32_t kMaxFootprintSteps = 1 << 15;

}  // namespace reprise::detail
