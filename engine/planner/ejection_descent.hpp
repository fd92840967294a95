// The way down by ejections: which heights to try from a packing's down to a target. Knows no
// clock. Threads: values and pure functions.
#pragma once

#include <cstdint>

#include "planner/packing.hpp"

namespace reprise::detail {

struct DescentHeightsDesc {
  std::uint64_t target = 0;        // what is low enough
  std::uint64_t wish = 0;          // a height to reach before others; 0 for none
  double stride = 0.125;           // part of what is above the target that the first one is to win
  std::uint64_t target_every = 3;  // heights, one is the target itself
};

// Heights come nearer to the best packing's where they are not reached, and some are the target
// itself. All are multiples of what sizes and alignments have in common, as the heights of packings
// are that nothing can fall in.
class DescentHeights {
 public:
  DescentHeights(const PackProblem& problem, const DescentHeightsDesc& desc);
  // To try next, below `best`, which is above the target; `best` where no packing of a lower height
  // is wanted.
  [[nodiscard]] std::uint64_t next(std::uint64_t best);
  void tell_reached();
  void tell_missed();
  // How often strides have come down to the shortest in vain.
  [[nodiscard]] std::uint32_t rounds() const noexcept { return rounds_; }

 private:
  std::uint64_t target_ = 0, wish_ = 0, unit_ = 1;
  std::uint64_t tried_ = 0;
  double stride_ = 0;
  std::uint64_t target_every_ = 1;
  std::uint32_t rounds_ = 0;
};

struct DescentDesc {
  std::uint64_t target = 0;  // what is low enough; not below any item's bytes
  std::uint64_t looks = 0;   // at one item beside another, about
  std::uint64_t seed = 1;
};

// Ejections from `first`: the same result on every run and machine, never higher than `first`.
[[nodiscard]] Packing descend_by_ejections(const PackProblem& problem, Packing first,
                                           const DescentDesc& desc);

}  // namespace reprise::detail
