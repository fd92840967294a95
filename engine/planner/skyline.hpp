// Skyline: how high each section is filled, for packings in which an item always goes on top of
// everything in its sections. Threads: one.
#pragma once

#include <cstdint>
#include <vector>

#include "planner/packing.hpp"

namespace reprise::detail {

class Skyline {
 public:
  explicit Skyline(std::uint32_t sections);
  // The highest of the range's sections. O(log sections), as is set().
  [[nodiscard]] std::uint64_t highest(IndexRange range) const {
    return highest(1, 0, leaves_, range);
  }
  // All sections of the range are filled up to `height`, which is not below highest(range).
  void set(IndexRange range, std::uint64_t height) { set(1, 0, leaves_, range, height); }

 private:
  [[nodiscard]] std::uint64_t highest(std::uint32_t node, std::uint32_t begin, std::uint32_t end,
                                      IndexRange range) const;
  void set(std::uint32_t node, std::uint32_t begin, std::uint32_t end, IndexRange range,
           std::uint64_t height);

  std::uint32_t leaves_;
  std::vector<std::uint64_t> all_;   // by tree node: every section below is at least this high
  std::vector<std::uint64_t> most_;  // the highest below
};

}  // namespace reprise::detail
