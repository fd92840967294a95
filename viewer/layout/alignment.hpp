// Blocks: elements (items, then segments) that stand exactly below each other, at most one a rank.
// A pure function.
#pragma once

#include <cstdint>
#include <vector>

#include "layout/rank_order.hpp"

namespace reprise::viewer {

enum class AlignWith : std::uint8_t { Above, Below };  // the neighbours that an item lines up with
enum class AlignFrom : std::uint8_t { Left, Right };   // the end of a rank that chooses first

struct AlignDesc {
  AlignWith with = AlignWith::Above;
  AlignFrom from = AlignFrom::Left;
};

struct Blocks {
  std::vector<std::uint32_t> block;  // an element each
  std::vector<std::uint32_t> first,
      elements;  // of block b: elements[first[b], first[b + 1]), from above to below
  [[nodiscard]] std::uint32_t count() const noexcept {
    return static_cast<std::uint32_t>(first.size()) - 1;
  }
};

// Links of each item on either side, from left to right.
struct SortedLinks {
  std::vector<std::uint32_t> above,
      below;  // as graph.up and as the links themselves, sorted by the other end's place
};
[[nodiscard]] SortedLinks sort_links(const LayeredGraph& graph, const RankOrder& order);

// `bent`: of bent_links.
[[nodiscard]] Blocks align(const LayeredGraph& graph, const RankOrder& order,
                           const SortedLinks& links, const std::vector<std::uint8_t>& bent,
                           const AlignDesc& desc);

}  // namespace reprise::viewer
