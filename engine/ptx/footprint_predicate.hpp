// BlockPredicate: whether a comparison of BlockValues holds, and the numbers that registers hold if
// it does or does not. Threads: values and pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "ptx/block_value.hpp"
#include "ptx/footprint_program.hpp"

namespace reprise::detail {

using PtxComparison = FootprintInstruction::Comparison;

[[nodiscard]] PtxComparison inverse(PtxComparison comparison);
// The comparison OP' for which `a OP b` is `b OP' a`.
[[nodiscard]] PtxComparison swapped(PtxComparison comparison);
// Whether a comparison holds for all numbers with this difference.
[[nodiscard]] bool always_holds(PtxComparison comparison, Bounds difference);
// The numbers x for which `x OP y` is possible with a y of `y`, given that x is in `x`.
[[nodiscard]] Bounds allowed(PtxComparison comparison, Bounds x, Bounds y);

// If a predicate has the value in question, a register holds a number in `box`.
struct RegisterConstraint {
  std::uint32_t index = 0, version = 0;  // of the register
  IntegerType type;
  BlockValue box;
  friend bool operator==(const RegisterConstraint& a, const RegisterConstraint& b) {
    return a.index == b.index && a.version == b.version && a.box == b.box &&
           a.type.bits == b.type.bits && a.type.is_signed == b.type.is_signed;
  }
};

struct BlockPredicate {
  enum class Truth : std::uint8_t { Unknown, True, False } truth = Truth::Unknown;
  std::array<std::vector<RegisterConstraint>, 2> constraints = {};  // if false; if true

  [[nodiscard]] bool may_be(bool value) const {
    return truth != (value ? Truth::False : Truth::True);
  }
  friend bool operator==(const BlockPredicate&, const BlockPredicate&) = default;
};

[[nodiscard]] BlockPredicate inverse(BlockPredicate predicate);
// Keeps 16 constraints at most: with fewer it holds as well.
[[nodiscard]] BlockPredicate both(const BlockPredicate& a, const BlockPredicate& b);

}  // namespace reprise::detail
