#include "memory/max_weight_antichain.hpp"

#include <algorithm>

namespace reprise::detail {

namespace {

// The maximum flow of bytes from transients to later ones, by Dinic's algorithm. Each transient
// emits and absorbs at most its own bytes, and forwards any other inflow to later transients.
class AntichainFlow {
 public:
  AntichainFlow(const TransientUses& uses, const Precedence& precedence)
      : uses_(uses),
        precedence_(precedence),
        nodes_(2 * precedence.size() + 2),
        first_(nodes_, kNone),
        level_(nodes_),
        next_(nodes_) {
    for (std::uint32_t item = 0; item < precedence.size(); ++item) {
      add_arc(source(), out_node(item), bytes(item));
      add_arc(in_node(item), sink(), bytes(item));
      add_arc(in_node(item), out_node(item), kUnlimited);
    }
    for (const auto& [earlier, later] : precedence.covers)
      add_arc(out_node(earlier), in_node(later), kUnlimited);
  }

  std::uint64_t run() {
    std::uint64_t total = 0;
    while (find_levels()) {
      next_ = first_;
      while (const std::uint64_t more = push()) total += more;
    }
    return total;
  }

  // Valid after run(): the minimum cut separates the two nodes of the item.
  [[nodiscard]] bool is_in_set(std::uint32_t item) const {
    return level_[out_node(item)] != kNone && level_[in_node(item)] == kNone;
  }

 private:
  static constexpr std::uint64_t kUnlimited = ~std::uint64_t{0} >> 2;
  struct Arc {
    std::uint32_t to = 0, next = kNone;  // next: arc of the same node
    std::uint64_t residual = 0;
  };
  std::uint32_t source() const { return nodes_ - 2; }
  std::uint32_t sink() const { return nodes_ - 1; }
  static std::uint32_t out_node(std::uint32_t item) { return 2 * item; }
  static std::uint32_t in_node(std::uint32_t item) { return 2 * item + 1; }
  std::uint64_t bytes(std::uint32_t item) const {
    return uses_.transients[precedence_.transients[item]].bytes;
  }

  void add_arc(std::uint32_t from, std::uint32_t to, std::uint64_t capacity) {
    arcs_.push_back({to, first_[from], capacity});
    first_[from] = static_cast<std::uint32_t>(arcs_.size() - 1);
    arcs_.push_back({from, first_[to], 0});
    first_[to] = static_cast<std::uint32_t>(arcs_.size() - 1);
  }

  bool find_levels() {
    std::fill(level_.begin(), level_.end(), kNone);
    queue_.assign(1, source());
    level_[source()] = 0;
    for (std::size_t at = 0; at < queue_.size(); ++at) {
      for (std::uint32_t i = first_[queue_[at]]; i != kNone; i = arcs_[i].next) {
        if (arcs_[i].residual == 0 || level_[arcs_[i].to] != kNone) continue;
        level_[arcs_[i].to] = level_[queue_[at]] + 1;
        queue_.push_back(arcs_[i].to);
      }
    }
    return level_[sink()] != kNone;
  }

  // Fills one more path from the source to the sink; 0: there is none. Depth-first without
  // recursion: a path may pass all items.
  std::uint64_t push() {
    path_.clear();
    for (std::uint32_t node = source(); node != sink();) {
      std::uint32_t& i = next_[node];
      while (i != kNone && (arcs_[i].residual == 0 || level_[arcs_[i].to] != level_[node] + 1))
        i = arcs_[i].next;
      if (i != kNone) {
        path_.push_back(i);
        node = arcs_[i].to;
        continue;
      }
      if (path_.empty()) return 0;
      const std::uint32_t dead_end = path_.back();
      path_.pop_back();
      node = arcs_[dead_end ^ 1].to;
      next_[node] = arcs_[dead_end].next;
    }
    std::uint64_t pushed = ~std::uint64_t{0};
    for (const std::uint32_t arc : path_) pushed = std::min(pushed, arcs_[arc].residual);
    for (const std::uint32_t arc : path_) {
      arcs_[arc].residual -= pushed;
      arcs_[arc ^ 1].residual += pushed;
    }
    return pushed;
  }

  const TransientUses& uses_;
  const Precedence& precedence_;
  std::uint32_t nodes_;
  std::vector<Arc> arcs_;  // each arc is followed by its reverse
  std::vector<std::uint32_t> first_, level_, next_, queue_, path_;  // path_: arcs
};

}  // namespace

MaxWeightAntichain find_max_weight_antichain(const TransientUses& uses,
                                             const Precedence& precedence) {
  AntichainFlow flow(uses, precedence);
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
