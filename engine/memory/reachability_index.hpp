// ReachabilityIndex: is every use of one transient ordered before every use of another by the
// lowered graph's edges? Nodes are put into chains; a clock tells how much of each chain is before
// a node. Where the chains run out (very wide graphs without lanes) it says no where the truth may
// be yes, never the other way. Knows no device. Threads: immutable once made.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "memory/transient_uses.hpp"

namespace reprise::detail {

class ReachabilityIndex {
 public:
  struct ChainPlace {
    std::uint32_t chain = kNone, position = 0;  // kNone: in no chain
  };

  // O((nodes + edges) * chains); memory is capped at about 64 MiB.
  ReachabilityIndex(const LoweredGraph& lowered, const TransientUses& uses);

  // Both have uses.
  [[nodiscard]] bool precedes(std::uint32_t a, std::uint32_t b) const {
    if (last_uses_known_[a] == 0) return false;
    const std::span<const std::uint32_t> before = before_first_use(b);
    for (std::uint32_t i = first_last_use_[a]; i < first_last_use_[a + 1]; ++i) {
      const ChainPlace& last = last_uses_[i];
      if (last.chain >= before.size() || last.position >= before[last.chain]) return false;
    }
    return true;
  }
  // By chain: how many of its nodes precede every use of the transient. Chains beyond the span:
  // none.
  [[nodiscard]] std::span<const std::uint32_t> before_first_use(std::uint32_t transient) const {
    return {before_.data() + first_before_[transient], before_count_[transient]};
  }
  // The transient has another use that its first one does not precede, so before_first_use() is
  // less than the first use's own.
  [[nodiscard]] bool has_several_beginnings(std::uint32_t transient) const {
    return has_several_beginnings_[transient] != 0;
  }
  // A transient's last use in each chain that has one; empty where a use is in no chain.
  [[nodiscard]] std::span<const ChainPlace> last_uses(std::uint32_t transient) const {
    if (last_uses_known_[transient] == 0) return {};
    return {last_uses_.data() + first_last_use_[transient],
            last_uses_.data() + first_last_use_[transient + 1]};
  }
  [[nodiscard]] ChainPlace place(std::uint32_t node) const { return places_[node]; }
  [[nodiscard]] std::uint32_t chains() const noexcept {
    return static_cast<std::uint32_t>(chain_length_.size());
  }

 private:
  friend class ClockPass;

  std::vector<ChainPlace> places_;  // by lowered node
  std::vector<std::uint32_t> chain_length_;
  std::vector<std::uint32_t> before_;                 // rows of clocks, a transient each
  std::vector<std::size_t> first_before_;             // by transient
  std::vector<std::uint32_t> before_count_;           // by transient
  std::vector<std::uint8_t> has_several_beginnings_;  // by transient
  std::vector<ChainPlace> last_uses_;
  std::vector<std::uint32_t> first_last_use_;  // by transient, and one more
  std::vector<std::uint8_t> last_uses_known_;  // by transient: all of its uses are in chains
};

}  // namespace reprise::detail
