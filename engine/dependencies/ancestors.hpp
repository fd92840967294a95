// visit_ancestors: answers ancestor queries between nodes of a graph without a table of all pairs.
// Works on blocks of kAncestorBlock nodes and follows each block only as far as a query needs.
// Cost: one cache line per edge into the nodes between a block and its last queried node. Threads:
// pure functions.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace reprise::detail {

inline constexpr std::uint32_t kAncestorBlock = 512;

// Edges into node n come from from[first[n]], ..., from[first[n + 1] - 1]. Each source is lower
// than n.
struct ForwardGraph {
  std::span<const std::uint32_t> first, from;
  [[nodiscard]] std::span<const std::uint32_t> parents(std::uint32_t node) const noexcept {
    return from.subspan(first[node], first[node + 1] - first[node]);
  }
};

// A set of nodes of one block, by offset in the block.
class alignas(64) AncestorSet {
 public:
  [[nodiscard]] bool contains(std::uint32_t index) const noexcept {
    return (words_[index / 64] >> (index % 64) & 1) != 0;
  }
  void add(std::uint32_t index) noexcept { words_[index / 64] |= std::uint64_t{1} << (index % 64); }
  void add(const AncestorSet& others) noexcept {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] |= others.words_[i];
  }

 private:
  std::array<std::uint64_t, kAncestorBlock / 64> words_{};
};

// last_query[p]: the last node for which the caller asks whether p is its ancestor; 0: no query.
// Calls visit(node, block_begin, ancestors): `ancestors` holds the nodes of the block with a path
// of at least two edges to `node`. A block follows about `edge_budget` edges; nodes beyond get no
// visit for that block.
template <class Visit>
void visit_ancestors(const ForwardGraph& graph, std::span<const std::uint32_t> last_query,
                     std::uint64_t edge_budget, Visit&& visit) {
  const auto count = static_cast<std::uint32_t>(last_query.size());
  std::vector<AncestorSet> sets;  // by node, starting at `begin`
  for (std::uint32_t begin = 0; begin < count; ++begin) {
    if (last_query[begin] == 0) continue;
    const std::uint32_t end = std::min(begin + kAncestorBlock, count);
    const std::uint32_t last =
        *std::max_element(last_query.begin() + begin, last_query.begin() + end);
    sets.clear();
    sets.emplace_back();
    std::uint64_t followed = 0;
    for (std::uint32_t node = begin + 1; node <= last && followed <= edge_budget; ++node) {
      const std::span<const std::uint32_t> parents = graph.parents(node);
      followed += parents.size();
      AncestorSet set;
      for (const std::uint32_t parent : parents) {
        if (parent >= begin) set.add(sets[parent - begin]);
      }
      visit(node, begin, set);
      for (const std::uint32_t parent : parents) {
        if (parent >= begin && parent < end) set.add(parent - begin);
      }
      sets.push_back(set);
    }
    begin = end - 1;
  }
}

}  // namespace reprise::detail
