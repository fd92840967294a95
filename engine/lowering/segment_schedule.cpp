#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <queue>
#include <unordered_set>
#include <utility>
#include <vector>

#include "lowering/lowered_graph.hpp"
#include "lowering/lowering_config.hpp"
#include "lowering/segment.hpp"

namespace reprise::detail {

namespace {

// Measured on an H100 (ns): from the end of an item to the start of a dependent one of another list
// and of the same list, and the part of an item that is not its dispatch.
constexpr std::uint64_t kOtherListLatencyNs = 1'000, kSameListLatencyNs = 50, kItemNs = 100;
// Assumed cost of a dispatch without a known cost. A value that is too high costs a wait between
// lists; one that is too low serialises dispatches that could run concurrently.
constexpr std::uint64_t kUnknownCostNs = 2'000;

class SegmentScheduler {
 public:
  SegmentScheduler(const LoweredGraph& lowered, const NodeHints& hints, std::uint32_t first_node,
                   std::uint32_t nodes, std::vector<BlockRelation> relations)
      : lowered_(lowered),
        hints_(hints),
        max_lists_(std::max(1u, hints.segment_lists)),
        successors_(nodes),
        rank_(nodes, 0),
        end_(nodes, 0),
        only_list_(nodes, kNone),
        position_(nodes, 0),
        is_waited_for_(nodes, 0),
        group_(nodes),
        is_crowded_(nodes, 0),
        first_part_(nodes + 1, 0) {
    segment_.relations = std::move(relations);
    segment_.first_node = first_node;
    segment_.nodes = nodes;
    segment_.item_counts.resize(nodes);
    relations_.emplace(segment_);
  }

  Segment run() {
    find_groups();
    choose_item_counts();
    rank_nodes();
    place_nodes();
    write_items();
    return std::move(segment_);
  }

 private:
  struct PlacedItem {
    std::uint32_t node = 0, part = 0;  // the node's number in the segment
  };
  struct Part {
    std::uint32_t list = kNone;
    std::uint64_t end = 0;
  };
  // A part that depends on more parts of a node waits for all of them.
  static constexpr std::uint32_t kMaxPartsNeeded = 4;

  [[nodiscard]] std::uint32_t blocks(std::uint32_t node) const {
    return hints_.segment_blocks[lowered_.nodes[segment_.first_node + node].dependency_node];
  }
  // The cost of one item, ns. Its blocks run in sequence, as they would in waves.
  [[nodiscard]] std::uint64_t cost(std::uint32_t node) const {
    const std::uint64_t blocks_of_item = blocks(node) / segment_.item_counts[node];
    return kItemNs * blocks_of_item +
           (hints_.costs.empty()
                ? kUnknownCostNs
                : hints_.costs[lowered_.nodes[segment_.first_node + node].dependency_node]);
  }
  // Calls `visit` with each predecessor inside the segment, and with its relation; null: none is
  // known.
  template <class Visit>
  void for_relations(std::uint32_t node, const Visit& visit) const {
    for (const BlockRelation& relation : relations_->into(segment_.first_node + node))
      visit(relation.from - segment_.first_node, &relation);
    if (!segment_.relations.empty()) return;
    for (const LoweredEdge& edge : lowered_.edges_into(segment_.first_node + node))
      if (segment_.contains(edge.from)) visit(edge.from - segment_.first_node, nullptr);
  }
  template <class Visit>
  void for_predecessors(std::uint32_t node, const Visit& visit) const {
    for_relations(node, [&](std::uint32_t from, const BlockRelation*) { visit(from); });
  }
  // The first block of a part of a node.
  [[nodiscard]] std::uint32_t start_of(std::uint32_t node, std::uint32_t part) const {
    return static_cast<std::uint32_t>(std::uint64_t{blocks(node)} * part /
                                      segment_.item_counts[node]);
  }
  // The parts of `from` that a part of a node depends on, if they are few.
  struct Parts {
    const Part* begin = nullptr;
    const Part* end = nullptr;
  };
  [[nodiscard]] std::optional<Parts> parts_needed(std::uint32_t from, const BlockRelation* relation,
                                                  std::uint32_t node, std::uint32_t part) const {
    if (relation == nullptr || relation->is_of_all_blocks()) return std::nullopt;
    if (relation->is_of_same_block() && group_[from] == group_[node]) {
      const Part* const same = &parts_[first_part_[from] + part];
      return Parts{same, same + 1};
    }
    const std::uint32_t first = start_of(node, part), all = blocks(from),
                        parts = segment_.item_counts[from];
    const BlockRelation::Blocks needed =
        relation->needed(first, start_of(node, part + 1) - first, all);
    if (needed.last < needed.first) return Parts{};
    // Part p contains the blocks from all * p / parts on.
    const auto part_of = [&](std::uint32_t block) {
      return static_cast<std::uint32_t>(((std::uint64_t{block} + 1) * parts - 1) / all);
    };
    const std::uint32_t low = part_of(needed.first), high = part_of(needed.last);
    if (high - low >= kMaxPartsNeeded) return std::nullopt;
    return Parts{&parts_[first_part_[from] + low], &parts_[first_part_[from] + high] + 1};
  }

  // Groups of commands of which block b depends on block b of another: they have the same parts.
  void find_groups() {
    std::iota(group_.begin(), group_.end(), 0);
    const auto group_of = [this](std::uint32_t node) {
      while (group_[node] != node) node = group_[node] = group_[group_[node]];
      return node;
    };
    for (const BlockRelation& relation : segment_.relations) {
      const std::uint32_t from = relation.from - segment_.first_node,
                          to = relation.to - segment_.first_node;
      if (relation.is_of_same_block() && blocks(from) == blocks(to)) {
        const auto [low, high] = std::minmax({group_of(from), group_of(to)});
        group_[high] = low;
      }
    }
    for (std::uint32_t node = 0; node < segment_.nodes; ++node) group_[node] = group_of(node);
  }

  // Divides the dispatches of a depth among all lists, each according to its share of the blocks.
  // Those of a group share a list, so that it counts once.
  void choose_item_counts() {
    std::vector<std::uint32_t> depth(segment_.nodes, 0);
    for (std::uint32_t node = 0; node < segment_.nodes; ++node) {
      for_predecessors(node, [&](std::uint32_t from) {
        depth[node] = std::max(depth[node], depth[from] + 1);
        successors_[from].push_back(node);
      });
    }
    const std::uint32_t depths = 1 + *std::max_element(depth.begin(), depth.end());
    std::vector<std::uint64_t> all(depths, 0), by_group(depths, 0);
    std::vector<std::uint32_t> counted_at(segment_.nodes, kNone);
    std::vector<std::vector<std::uint32_t>> of_depth(depths);
    for (std::uint32_t node = 0; node < segment_.nodes; ++node)
      of_depth[depth[node]].push_back(node);
    for (std::uint32_t at = 0; at < depths; ++at) {
      for (const std::uint32_t node : of_depth[at]) {
        all[at] += blocks(node);
        if (std::exchange(counted_at[group_[node]], at) != at) by_group[at] += blocks(node);
      }
    }
    std::vector<std::uint64_t> widest(segment_.nodes, 0);
    for (std::uint32_t node = 0; node < segment_.nodes; ++node)
      widest[group_[node]] = std::max(widest[group_[node]], by_group[depth[node]]);
    for (std::uint32_t node = 0; node < segment_.nodes; ++node) {
      const std::uint64_t share = std::uint64_t{max_lists_} * blocks(node) / widest[group_[node]];
      segment_.item_counts[node] =
          static_cast<std::uint32_t>(std::clamp<std::uint64_t>(share, 1, blocks(node)));
      is_crowded_[node] = all[depth[node]] > max_lists_ ? 1 : 0;
    }
    for (std::uint32_t node = 0; node < segment_.nodes; ++node)
      first_part_[node + 1] = first_part_[node] + segment_.item_counts[node];
    parts_.resize(first_part_.back());
  }

  // The longest path from the start of a node to the end of the segment.
  void rank_nodes() {
    for (std::uint32_t node = segment_.nodes; node-- > 0;) {
      std::uint64_t after = 0;
      for (const std::uint32_t next : successors_[node])
        after = std::max(after, rank_[next] + kOtherListLatencyNs);
      rank_[node] = after + cost(node);
    }
  }

  void place_nodes() {
    const auto is_later = [this](std::uint32_t a, std::uint32_t b) {
      return rank_[a] != rank_[b] ? rank_[a] < rank_[b] : a > b;
    };
    std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, decltype(is_later)> ready(
        is_later);
    std::vector<std::uint32_t> predecessors(segment_.nodes, 0);
    for (std::uint32_t node = 0; node < segment_.nodes; ++node) {
      for (const std::uint32_t next : successors_[node]) ++predecessors[next];
    }
    for (std::uint32_t node = 0; node < segment_.nodes; ++node)
      if (predecessors[node] == 0) ready.push(node);
    while (!ready.empty()) {
      const std::uint32_t node = ready.top();
      ready.pop();
      for (std::uint32_t part = 0; part < segment_.item_counts[node]; ++part) place(node, part);
      for (const std::uint32_t next : successors_[node])
        if (--predecessors[next] == 0) ready.push(next);
    }
  }

  // When an item of `node` can start in `list`.
  [[nodiscard]] std::uint64_t start_in(std::uint32_t list, std::uint32_t node,
                                       std::uint32_t part) const {
    std::uint64_t start = list < free_at_.size() ? free_at_[list] : 0;
    const auto after = [&](std::uint64_t end, std::uint32_t in) {
      start = std::max(start, end + (in == list ? kSameListLatencyNs : kOtherListLatencyNs));
    };
    for_relations(node, [&](std::uint32_t from, const BlockRelation* relation) {
      const std::optional<Parts> needed = parts_needed(from, relation, node, part);
      if (!needed) return after(end_[from], only_list_[from]);
      for (const Part* of = needed->begin; of != needed->end; ++of) after(of->end, of->list);
    });
    return start;
  }

  // The list in which the item starts first: a predecessor's, a new one or an idle one. A new one
  // if costs are unknown, since what an idle list contains may take longer than expected, unless
  // that list has been idle for long and a new one would share a multiprocessor. Where lists are
  // scarce, the list of the same blocks of the group.
  [[nodiscard]] std::uint32_t choose_list(std::uint32_t node, std::uint32_t part) {
    const std::uint32_t of_group = parts_[first_part_[group_[node]] + part].list;
    if (is_crowded_[node] != 0 && of_group != kNone) return of_group;
    const auto new_list = static_cast<std::uint32_t>(lists_.size());
    std::uint32_t best = new_list;
    std::uint64_t start = best < max_lists_ ? start_in(best, node, part) : kNever;
    const auto try_list = [&](std::uint32_t list) {
      const std::uint64_t begin = start_in(list, node, part);
      if (begin > start || (begin == start && list > best)) return;
      start = begin;
      best = list;
    };
    for_relations(node, [&](std::uint32_t from, const BlockRelation* relation) {
      const std::optional<Parts> needed = parts_needed(from, relation, node, part);
      if (needed && needed->begin != needed->end) try_list(needed->begin->list);
      if (!needed && only_list_[from] != kNone) try_list(only_list_[from]);
    });
    if (idle_.empty()) return best;
    while (idle_.top().time != free_at_[idle_.top().list]) idle_.pop();  // outdated
    const std::uint32_t idle = idle_.top().list;
    const std::uint64_t begin = start_in(idle, node, part);
    const bool is_certain = !hints_.costs.empty() || (lists_.size() >= hints_.undisturbed_lists &&
                                                      free_at_[idle] + kUnknownCostNs <= begin);
    return begin < start || (begin == start && best == new_list && is_certain) ? idle : best;
  }

  void place(std::uint32_t node, std::uint32_t part) {
    const std::uint32_t best = choose_list(node, part);
    const std::uint64_t start = start_in(best, node, part);
    Part& of_group = parts_[first_part_[group_[node]] + part];
    if (best == lists_.size()) {
      lists_.emplace_back();
      free_at_.push_back(0);
    }
    lists_[best].push_back({node, part});
    position_[node] = static_cast<std::uint32_t>(lists_[best].size());
    free_at_[best] = start + cost(node);
    idle_.push({free_at_[best], best});
    if (of_group.list == kNone) of_group.list = best;
    parts_[first_part_[node] + part] = {best, free_at_[best]};
    end_[node] = std::max(end_[node], free_at_[best]);
    only_list_[node] = part == 0 || only_list_[node] == best ? best : kNone;
  }

  // A wait for a node with all its items in one list is one for all earlier nodes of that list: an
  // item waits for the last of them only, and the others need not be published.
  void write_items() {
    // By list: how many of its items have ended before the next item; by node otherwise.
    std::vector<std::uint32_t> ended(lists_.size());
    std::unordered_set<std::uint32_t> known;
    std::vector<std::uint32_t> waits;
    for (const std::vector<PlacedItem>& list : lists_) {
      std::fill(ended.begin(), ended.end(), 0);
      known.clear();
      segment_.first_item.push_back(static_cast<std::uint32_t>(segment_.items.size()));
      const auto number = static_cast<std::uint32_t>(&list - lists_.data());
      for (const auto& [node, part] : list) {
        const std::uint32_t first = start_of(node, part);
        SegmentItem item{.node = segment_.first_node + node,
                         .first_block = first,
                         .blocks = start_of(node, part + 1) - first,
                         .first_wait = static_cast<std::uint32_t>(segment_.waits.size())};
        waits.clear();
        const std::uint32_t of_node = node, of_part = part;
        for_relations(node, [&](std::uint32_t from, const BlockRelation* relation) {
          const std::optional<Parts> needed = parts_needed(from, relation, of_node, of_part);
          const bool is_here = needed
                                   ? std::all_of(needed->begin, needed->end,
                                                 [&](const Part& of) { return of.list == number; })
                                   : only_list_[from] == number;
          if (!is_here) waits.push_back(from);
        });
        std::stable_sort(waits.begin(), waits.end(), [this](std::uint32_t a, std::uint32_t b) {
          return position_[a] > position_[b];
        });
        for (const std::uint32_t from : waits) {
          const std::uint32_t in = only_list_[from];
          if (in == kNone ? !known.insert(from).second : position_[from] <= ended[in]) continue;
          if (in != kNone) ended[in] = position_[from];
          segment_.waits.push_back(segment_.first_node + from);
          is_waited_for_[from] = 1;
          ++item.waits;
        }
        segment_.items.push_back(item);
      }
    }
    segment_.first_item.push_back(static_cast<std::uint32_t>(segment_.items.size()));
    for (SegmentItem& item : segment_.items)
      item.publishes = is_waited_for_[item.node - segment_.first_node] != 0;
  }

  static constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();
  struct FreeList {
    std::uint64_t time = 0;
    std::uint32_t list = 0;
    // The list that becomes idle first is on top.
    friend bool operator<(const FreeList& a, const FreeList& b) {
      return a.time != b.time ? a.time > b.time : a.list > b.list;
    }
  };

  const LoweredGraph& lowered_;
  const NodeHints& hints_;
  const std::uint32_t max_lists_;
  Segment segment_;
  std::optional<RelationsByTarget> relations_;
  // By the node's number in the segment.
  std::vector<std::vector<std::uint32_t>> successors_;
  std::vector<std::uint64_t> rank_, end_;
  std::vector<std::uint32_t> only_list_;  // with all its items; kNone: several lists
  std::vector<std::uint32_t> position_;   // of its last item in that list, from 1 on
  std::vector<std::uint8_t> is_waited_for_;
  std::vector<std::uint32_t> group_;      // its first node
  std::vector<std::uint8_t> is_crowded_;  // more blocks at its depth than lists
  std::vector<std::size_t> first_part_;   // in parts_
  std::vector<Part> parts_;
  std::vector<std::vector<PlacedItem>> lists_;
  std::vector<std::uint64_t> free_at_;  // by list
  std::priority_queue<FreeList> idle_;  // with outdated entries
};

}  // namespace

Segment schedule_segment(const LoweredGraph& lowered, const NodeHints& hints,
                         std::uint32_t first_node, std::uint32_t nodes,
                         std::vector<BlockRelation> relations) {
  return SegmentScheduler(lowered, hints, first_node, nodes, std::move(relations)).run();
}

}  // namespace reprise::detail
