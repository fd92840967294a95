// ReachabilityIndex: answers whether the edges of the lowered graph order every use of one
// transient before every use of another. Nodes are decomposed into chains; a vector clock counts
// the nodes of each chain that precede a node. Very wide graphs without lanes can exceed the
// maximum number of chains. The index is then conservative: it can miss an order but never reports
// a false one. Knows no device. Threads: immutable after construction.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "memory/transient_uses.hpp"

namespace reprise::detail {

class ReachabilityIndex {
 public:
  struct ChainPosition {
    std::uint32_t chain = kNone, position = 0;  // kNone: the node is in no chain
  };

  // O((nodes + edges) * chains); memory is capped at about 64 MiB.
  ReachabilityIndex(const LoweredGraph& lowered, const TransientUses& uses);

  // True if every use of `a` precedes every use of `b`. Both have uses.
  [[nodiscard]] bool precedes(std::uint32_t a, std::uint32_t b) const {
    if (last_uses_known_[a] == 0) return false;
    const std::span<const std::uint32_t> before = before_first_use(b);
    for (std::uint32_t i = first_last_use_[a]; i < first_last_use_[a + 1]; ++i) {
      const ChainPosition& last = last_uses_[i];
      if (last.chain >= before.size() || last.position >= before[last.chain]) return false;
    }
    return true;
  }
  // By chain: the number of its nodes that precede every use of the transient; 0 for chains beyond
  // the span.
  [[nodiscard]] std::span<const std::uint32_t> before_first_use(std::uint32_t transient) const {
    return {before_.data() + first_before_[transient], before_count_[transient]};
  }
  // True if the first use does not precede all other uses. before_first_use() can then be smaller
  // than the clock of the first use.
  [[nodiscard]] bool has_several_first_uses(std::uint32_t transient) const {
    return has_several_first_uses_[transient] != 0;
  }
  // The last use of the transient in each chain that has uses; empty if a use is in no chain.
  [[nodiscard]] std::span<const ChainPosition> last_uses(std::uint32_t transient) const {
    if (last_uses_known_[transient] == 0) return {};
    return {last_uses_.data() + first_last_use_[transient],
            last_uses_.data() + first_last_use_[transient + 1]};
  }
  [[nodiscard]] ChainPosition position(std::uint32_t node) const { return positions_[node]; }
  [[nodiscard]] std::uint32_t chains() const noexcept {
    return static_cast<std::uint32_t>(chain_length_.size());
  }

 private:
  friend class ClockPass;

  std::vector<ChainPosition> positions_;  // by lowered node
  std::vector<std::uint32_t> chain_length_;
  std::vector<std::uint32_t> before_;                 // clocks, one row for each transient
  std::vector<std::size_t> first_before_;             // by transient
  std::vector<std::uint32_t> before_count_;           // by transient
  std::vector<std::uint8_t> has_several_first_uses_;  // by transient
  std::vector<ChainPosition> last_uses_;
  std::vector<std::uint32_t> first_last_use_;  // by transient, with an end entry
  std::vector<std::uint8_t> last_uses_known_;  // by transient: all uses are in chains
};

}  // namespace reprise::detail
