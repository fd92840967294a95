#include "memory/reachability_index.hpp"

#include <algorithm>

namespace reprise::detail {

namespace {

constexpr std::size_t kMaxChains = 256;
constexpr std::size_t kMaxClockEntries = std::size_t{1} << 24;

}  // namespace

// Computes the index in one pass over the nodes in creation order. The clock of a node is recycled
// after the last of its children.
class ClockPass {
 public:
  ClockPass(const LoweredGraph& lowered, const TransientUses& uses, ReachabilityIndex& order)
      : lowered_(lowered), uses_(uses), order_(order) {
    const std::size_t nodes = lowered.nodes.size();
    order_.positions_.resize(nodes);
    const std::size_t rows = std::max({nodes, uses.transients.size(), std::size_t{1}});
    const std::size_t cap = std::clamp(kMaxClockEntries / rows, std::size_t{1}, kMaxChains);
    stride_ = std::min(cap, simple_chains());
    searches_all_chains_ = stride_ == cap;
    clock_of_.assign(nodes, kNone);
    clock_size_.assign(nodes, 0);
    list_uses_by_node();
  }

  void run() {
    const std::size_t transients = uses_.transients.size();
    order_.first_before_.assign(transients, 0);
    order_.before_count_.assign(transients, 0);
    order_.has_several_first_uses_.assign(transients, 0);
    for (std::uint32_t node = 0; node < lowered_.nodes.size(); ++node) {
      merge_parents(node);
      choose_chain(node);
      for (std::uint32_t i = first_use_at_[node]; i < first_use_at_[node + 1]; ++i)
        record_use(used_at_[i], node);
      if (children_[node] == 0) release(node);
    }
    collect_last_uses();
  }

 private:
  // The number of chains if each node can only extend the chain of its first parent. Also counts
  // the children of each node.
  std::size_t simple_chains() {
    const std::size_t nodes = lowered_.nodes.size();
    children_.assign(nodes, 0);
    std::vector<std::uint8_t> taken(nodes, 0);
    std::size_t chains = 0;
    for (std::uint32_t node = 0; node < nodes; ++node) {
      const auto edges = lowered_.edges_into(node);
      for (const LoweredEdge& edge : edges) ++children_[edge.from];
      if (edges.empty() || taken[edges.front().from] != 0) {
        ++chains;
      } else {
        taken[edges.front().from] = 1;
      }
    }
    return std::max(chains, std::size_t{1});
  }

  void list_uses_by_node() {
    first_use_at_.assign(lowered_.nodes.size() + 1, 0);
    for (const std::uint32_t node : uses_.nodes) ++first_use_at_[node + 1];
    for (std::size_t i = 1; i < first_use_at_.size(); ++i) first_use_at_[i] += first_use_at_[i - 1];
    used_at_.resize(uses_.nodes.size());
    std::vector<std::uint32_t> next(first_use_at_.begin(), first_use_at_.end() - 1);
    for (std::uint32_t transient = 0; transient < uses_.transients.size(); ++transient) {
      for (const std::uint32_t node : uses_.uses_of(transient)) used_at_[next[node]++] = transient;
    }
  }

  std::uint32_t* clock(std::uint32_t node) {
    return clocks_.data() + std::size_t{clock_of_[node]} * stride_;
  }

  std::uint32_t acquire() {
    if (free_clocks_.empty()) {
      clocks_.resize(clocks_.size() + stride_);
      return static_cast<std::uint32_t>(clocks_.size() / stride_ - 1);
    }
    const std::uint32_t slot = free_clocks_.back();
    free_clocks_.pop_back();
    return slot;
  }
  void release(std::uint32_t node) {
    if (clock_of_[node] != kNone) free_clocks_.push_back(clock_of_[node]);
    clock_of_[node] = kNone;
  }

  // Computes the clock of `node`: clock[chain] is the number of nodes of the chain that precede it.
  void merge_parents(std::uint32_t node) {
    for (const LoweredEdge& edge : lowered_.edges_into(node)) {
      const std::uint32_t parent = edge.from;
      const bool is_last_child = --children_[parent] == 0;
      if (clock_of_[node] == kNone && is_last_child) {
        clock_of_[node] = clock_of_[parent];
        clock_size_[node] = clock_size_[parent];
        clock_of_[parent] = kNone;
      } else {
        if (clock_of_[node] == kNone) clock_of_[node] = acquire();
        merge(node, parent);
        if (is_last_child) release(parent);
      }
      const ReachabilityIndex::ChainPosition position = order_.positions_[parent];
      if (position.chain == kNone) continue;
      grow(node, position.chain + 1);
      clock(node)[position.chain] = std::max(clock(node)[position.chain], position.position + 1);
    }
    if (clock_of_[node] == kNone) clock_of_[node] = acquire();
  }
  void merge(std::uint32_t node, std::uint32_t parent) {
    const std::uint32_t size = clock_size_[parent];
    grow(node, size);
    std::uint32_t* const into = clock(node);
    const std::uint32_t* const from = clock(parent);
    for (std::uint32_t chain = 0; chain < size; ++chain)
      into[chain] = into[chain] < from[chain] ? from[chain] : into[chain];
  }
  void grow(std::uint32_t node, std::uint32_t size) {
    if (clock_size_[node] >= size) return;
    std::fill(clock(node) + clock_size_[node], clock(node) + size, 0u);
    clock_size_[node] = size;
  }

  void choose_chain(std::uint32_t node) {
    const auto edges = lowered_.edges_into(node);
    if (!edges.empty()) {
      const std::uint32_t chain = order_.positions_[edges.front().from].chain;
      if (chain != kNone && is_after_all_of(node, chain)) return append(node, chain);
    }
    if (searches_all_chains_) {
      for (std::uint32_t chain = 0; chain < clock_size_[node]; ++chain) {
        if (is_after_all_of(node, chain)) return append(node, chain);
      }
    }
    if (order_.chain_length_.size() == stride_) return;
    order_.chain_length_.push_back(0);
    append(node, static_cast<std::uint32_t>(order_.chain_length_.size() - 1));
  }
  bool is_after_all_of(std::uint32_t node, std::uint32_t chain) {
    return chain < clock_size_[node] && clock(node)[chain] == order_.chain_length_[chain];
  }
  void append(std::uint32_t node, std::uint32_t chain) {
    order_.positions_[node] = {chain, order_.chain_length_[chain]++};
  }

  void record_use(std::uint32_t transient, std::uint32_t node) {
    const std::uint32_t* const now = clock(node);
    const std::uint32_t size = clock_size_[node];
    const std::uint32_t first_node = uses_.uses_of(transient).front();
    if (node == first_node) {
      order_.first_before_[transient] = order_.before_.size();
      order_.before_count_[transient] = size;
      order_.before_.insert(order_.before_.end(), now, now + size);
      return;
    }
    // A use that the first use precedes has a larger clock and does not change the row.
    const ReachabilityIndex::ChainPosition first = order_.positions_[first_node];
    if (first.chain != kNone && first.chain < size && now[first.chain] > first.position) return;
    order_.has_several_first_uses_[transient] = 1;
    std::uint32_t* const row = order_.before_.data() + order_.first_before_[transient];
    std::uint32_t& count = order_.before_count_[transient];
    count = std::min(count, size);
    for (std::uint32_t chain = 0; chain < count; ++chain)
      row[chain] = std::min(row[chain], now[chain]);
  }

  void collect_last_uses() {
    const std::size_t transients = uses_.transients.size();
    order_.last_uses_known_.assign(transients, 1);
    order_.first_last_use_.reserve(transients + 1);
    order_.last_uses_.reserve(uses_.nodes.size());
    for (std::uint32_t transient = 0; transient < transients; ++transient) {
      const auto first = static_cast<std::uint32_t>(order_.last_uses_.size());
      order_.first_last_use_.push_back(first);
      for (const std::uint32_t node : uses_.uses_of(transient)) {
        const ReachabilityIndex::ChainPosition position = order_.positions_[node];
        if (position.chain == kNone) order_.last_uses_known_[transient] = 0;
        add_last_use(first, position);
      }
    }
    order_.first_last_use_.push_back(static_cast<std::uint32_t>(order_.last_uses_.size()));
  }
  // Keeps one entry for each chain among the last few entries. Duplicates beyond them are correct
  // but slower to check.
  void add_last_use(std::uint32_t first, ReachabilityIndex::ChainPosition position) {
    constexpr std::size_t kSearched = 8;
    auto& all = order_.last_uses_;
    const std::size_t stop =
        std::max<std::size_t>(first, all.size() > kSearched ? all.size() - kSearched : 0);
    for (std::size_t i = all.size(); i-- > stop;) {
      if (all[i].chain != position.chain) continue;
      all[i].position = std::max(all[i].position, position.position);
      return;
    }
    all.push_back(position);
  }

  const LoweredGraph& lowered_;
  const TransientUses& uses_;
  ReachabilityIndex& order_;
  std::size_t stride_ = 1;  // maximum number of chains, and entries of a clock
  bool searches_all_chains_ = false;
  std::vector<std::uint32_t> children_;  // by node: not yet visited
  std::vector<std::uint32_t> clock_of_, clock_size_;
  std::vector<std::uint32_t> clocks_, free_clocks_;
  std::vector<std::uint32_t> first_use_at_;
  std::vector<std::uint32_t> used_at_;  // transients, by node
};

ReachabilityIndex::ReachabilityIndex(const LoweredGraph& lowered, const TransientUses& uses) {
  ClockPass(lowered, uses, *this).run();
}

}  // namespace reprise::detail
