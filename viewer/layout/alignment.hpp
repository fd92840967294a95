// Vertical alignment blocks: elements (items, then segments) with the same coordinate across, at
// most one per rank. A pure function.
#pragma once

#include <cstdint>
#include <vector>

#include "layout/rank_order.hpp"

namespace reprise::viewer {

enum class AlignWith : std::uint8_t { Above, Below };  // the neighbours that an item aligns with
enum class AlignFrom : std::uint8_t { Left, Right };   // the end of a rank that chooses first

struct AlignDesc {
  AlignWith with = AlignWith::Above;
  AlignFrom from = AlignFrom::Left;
};

struct Blocks {
  std::vector<std::uint32_t> block;  // per element
  // of block b: elements[first[b], first[b + 1]), top to bottom
  std::vector<std::uint32_t> first, elements;
  [[nodiscard]] std::uint32_t count() const noexcept {
    return static_cast<std::uint32_t>(first.size()) - 1;
  }
};

// Links of each item on either side, from left to right.
struct SortedLinks {
  // as graph.up and the links themselves, sorted by the position of the other end
  std::vector<std::uint32_t> above, below;
};
[[nodiscard]] SortedLinks sort_links(const LayeredGraph& graph, const RankOrder& order);

// `bent`: the result of bent_links().
[[nodiscard]] Blocks align(const LayeredGraph& graph, const RankOrder& order,
                           const SortedLinks& links, const std::vector<std::uint8_t>& bent,
                           const AlignDesc& desc);

}  // namespace reprise::viewer
