#include "memory/max_weight_antichain.hpp"

#include <algorithm>

namespace reprise::detail {

namespace {

// Bytes handed on from transients to later ones, as many as can be: each gives at most its own, and
// takes at most its own; what it is handed beyond that goes on to later ones. Dinic's algorithm.
class HandOver {
 public:
  HandOver(const TransientUses& uses, const Precedence& precedence)
      : uses_(uses),
        precedence_(precedence),
        nodes_(2 * precedence.size() + 2),
        first_(nodes_, kNone),
        level_(nodes_),
        next_(nodes_) {
    for (std::uint32_t item = 0; item < precedence.size(); ++item) {
      link(source(), giver(item), bytes(item));
      link(taker(item), sink(), bytes(item));
      link(taker(item), giver(item), kAny);
    }
    for (const auto& [earlier, later] : precedence.covers) link(giver(earlier), taker(later), kAny);
  }

  std::uint64_t run() {
    std::uint64_t total = 0;
    while (find_levels()) {
      next_ = first_;
      while (const std::uint64_t more = push(source(), ~std::uint64_t{0})) total += more;
    }
    return total;
  }

  // After run(): what cannot hand on all it has, and gets nothing from such a one.
  [[nodiscard]] bool is_in_set(std::uint32_t item) const {
    return level_[giver(item)] != kNone && level_[taker(item)] == kNone;
  }

 private:
  static constexpr std::uint64_t kAny = ~std::uint64_t{0} >> 2;
  struct Link {
    std::uint32_t to = 0, next = kNone;  // the next of the same node
    std::uint64_t left = 0;
  };
  std::uint32_t source() const { return nodes_ - 2; }
  std::uint32_t sink() const { return nodes_ - 1; }
  static std::uint32_t giver(std::uint32_t item) { return 2 * item; }
  static std::uint32_t taker(std::uint32_t item) { return 2 * item + 1; }
  std::uint64_t bytes(std::uint32_t item) const {
    return uses_.transients[precedence_.transients[item]].bytes;
  }

  void link(std::uint32_t from, std::uint32_t to, std::uint64_t most) {
    links_.push_back({to, first_[from], most});
    first_[from] = static_cast<std::uint32_t>(links_.size() - 1);
    links_.push_back({from, first_[to], 0});
    first_[to] = static_cast<std::uint32_t>(links_.size() - 1);
  }

  bool find_levels() {
    std::fill(level_.begin(), level_.end(), kNone);
    queue_.assign(1, source());
    level_[source()] = 0;
    for (std::size_t at = 0; at < queue_.size(); ++at) {
      for (std::uint32_t i = first_[queue_[at]]; i != kNone; i = links_[i].next) {
        if (links_[i].left == 0 || level_[links_[i].to] != kNone) continue;
        level_[links_[i].to] = level_[queue_[at]] + 1;
        queue_.push_back(links_[i].to);
      }
    }
    return level_[sink()] != kNone;
  }

  std::uint64_t push(std::uint32_t node, std::uint64_t most) {
    if (node == sink()) return most;
    for (std::uint32_t& i = next_[node]; i != kNone; i = links_[i].next) {
      if (links_[i].left == 0 || level_[links_[i].to] != level_[node] + 1) continue;
      const std::uint64_t done = push(links_[i].to, std::min(most, links_[i].left));
      if (done == 0) continue;
      links_[i].left -= done;
      links_[i ^ 1].left += done;
      return done;
    }
    return 0;
  }

  const TransientUses& uses_;
  const Precedence& precedence_;
  std::uint32_t nodes_;
  std::vector<Link> links_;  // each followed by its reverse
  std::vector<std::uint32_t> first_, level_, next_, queue_;
};

}  // namespace

MaxWeightAntichain find_max_weight_antichain(const TransientUses& uses,
                                             const Precedence& precedence) {
  HandOver flow(uses, precedence);
  static_cast<void>(flow.run());
  MaxWeightAntichain set;
  for (std::uint32_t item = 0; item < precedence.size(); ++item) {
    if (!flow.is_in_set(item)) continue;
    set.members.push_back(item);
    set.bytes += uses.transients[precedence.transients[item]].bytes;
  }
  return set;
}

}  // namespace reprise::detail
