// Skyline: the height of each clique in a packing that places every item above all earlier items of
// its cliques. A segment tree. Threads: one at a time.
#pragma once

#include <cstdint>
#include <vector>

#include "planner/packing.hpp"

namespace reprise::detail {

class Skyline {
 public:
  explicit Skyline(std::uint32_t cliques);
  // The maximum height in the range. O(log cliques).
  [[nodiscard]] std::uint64_t max_height(IndexRange range) const {
    return max_height(1, 0, leaves_, range);
  }
  // Raises every clique of the range to `height`, which is at least max_height(range). O(log
  // cliques).
  void raise(IndexRange range, std::uint64_t height) { raise(1, 0, leaves_, range, height); }

 private:
  [[nodiscard]] std::uint64_t max_height(std::uint32_t node, std::uint32_t begin, std::uint32_t end,
                                         IndexRange range) const;
  void raise(std::uint32_t node, std::uint32_t begin, std::uint32_t end, IndexRange range,
             std::uint64_t height);

  std::uint32_t leaves_;
  std::vector<std::uint64_t> floor_;  // by tree node: a lower bound of every height in its subtree
  std::vector<std::uint64_t> max_;    // by tree node: the maximum height in its subtree
};

}  // namespace reprise::detail
