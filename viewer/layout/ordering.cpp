#include "layout/ordering.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "layout/crossings.hpp"
#include "layout/exchange.hpp"
#include "layout/sweep.hpp"

namespace reprise::viewer {

namespace {

// The initial order: items enter their ranks in depth-first order from one end, so a tree has no
// crossings.
class FirstOrder {
 public:
  FirstOrder(const LayeredGraph& graph, SweepDirection direction)
      : graph_(graph), direction_(direction), seen_(graph.item_count(), 0) {}

  RankOrder run(const std::vector<std::uint32_t>& lanes) {
    std::vector<std::uint32_t> roots(graph_.item_count());
    std::iota(roots.begin(), roots.end(), 0u);
    const auto lane = [&](std::uint32_t item) { return item < lanes.size() ? lanes[item] : 0; };
    std::stable_sort(roots.begin(), roots.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return lane(a) < lane(b); });
    std::vector<std::uint32_t> met;
    met.reserve(graph_.item_count());
    for (const std::uint32_t root : roots) {
      if (is_end(root)) search(root, met);
    }
    RankOrder order;
    order.first.assign(graph_.rank_count + 1, 0);
    for (const std::uint32_t rank : graph_.rank) ++order.first[rank + 1];
    for (std::uint32_t r = 0; r < graph_.rank_count; ++r) order.first[r + 1] += order.first[r];
    order.items.resize(graph_.item_count());
    order.place.resize(graph_.item_count());
    order.gap.assign(graph_.item_count(), 0);
    std::vector<std::uint32_t> filled(graph_.rank_count, 0);
    for (const std::uint32_t item : met) {
      const std::uint32_t rank = graph_.rank[item];
      order.place[item] = filled[rank];
      order.items[order.first[rank] + filled[rank]++] = item;
    }
    return order;
  }

 private:
  [[nodiscard]] bool is_end(std::uint32_t item) const {
    if (item >= graph_.node_count) return false;
    return direction_ == SweepDirection::Down
               ? graph_.first_up[item] == graph_.first_up[item + 1]
               : graph_.first_down[item] == graph_.first_down[item + 1];
  }
  void push(std::uint32_t item) {
    if (seen_[item] == 0) stack_.push_back(item);
  }
  void search(std::uint32_t root, std::vector<std::uint32_t>& met) {
    push(root);
    while (!stack_.empty()) {
      const std::uint32_t item = stack_.back();
      stack_.pop_back();
      if (seen_[item] != 0) continue;
      seen_[item] = 1;
      met.push_back(item);
      if (direction_ == SweepDirection::Down) {
        if (graph_.kind[item] == ItemKind::Head) push(graph_.segments[graph_.segment[item]].tail);
        for (std::uint32_t l = graph_.first_down[item + 1]; l-- > graph_.first_down[item];)
          push(graph_.link_to[l]);
      } else {
        if (graph_.kind[item] == ItemKind::Tail) push(graph_.segments[graph_.segment[item]].head);
        for (std::uint32_t i = graph_.first_up[item + 1]; i-- > graph_.first_up[item];)
          push(graph_.link_from[graph_.up[i]]);
      }
    }
  }

  const LayeredGraph& graph_;
  SweepDirection direction_;
  std::vector<std::uint8_t> seen_;
  std::vector<std::uint32_t> stack_;
};

constexpr std::uint32_t kExchangePasses = 12;
constexpr std::uint32_t kSegmentWork = 12;  // cost of a segment in a sweep
// consecutive sweeps without improvement before the search stops
constexpr std::uint32_t kPatience = 8;

// The budget of one search, in items and links processed.
std::uint64_t budget_for(const LayeredGraph& graph) {
  const std::uint64_t size = graph.item_count() + graph.link_count();
  return 300'000 + 6 * size;
}

struct Candidate {
  RankOrder order;
  std::uint64_t crossings = 0;
};

// Sweeps alternately up and down, from an initial order.
Candidate improve(const LayeredGraph& graph, RankOrder order, SweepDirection first) {
  const SweepDirection second =
      first == SweepDirection::Down ? SweepDirection::Up : SweepDirection::Down;
  const std::uint64_t budget = budget_for(graph);
  Candidate best;
  std::uint32_t in_vain = 0;
  std::uint64_t work = 0;
  for (std::uint32_t i = 0; work < budget && in_vain < kPatience; ++i) {
    sweep(graph, order,
          {.direction = i % 2 == 0 ? first : second,
           .measure = i % 4 < 2 ? SweepMeasure::Mean : SweepMeasure::Median,
           .ties = i % 8 < 4 ? SweepTies::Keep : SweepTies::Reverse});
    work += 2 * (graph.item_count() + graph.link_count()) + kSegmentWork * graph.segments.size();
    work += exchange_neighbours(graph, order,
                                {.equal = i % 2 == 0 ? EqualExchanges::Leave : EqualExchanges::Make,
                                 .passes = kExchangePasses})
                .work;
    const std::uint64_t crossings = count_crossings(graph, order);
    ++in_vain;
    if (i == 0 || crossings < best.crossings) {
      best = {order, crossings};
      in_vain = 0;
    }
    if (best.crossings == 0) break;
  }
  return best;
}

}  // namespace

RankOrder order_ranks(const LayeredGraph& graph, const std::vector<std::uint32_t>& lanes) {
  Candidate best =
      improve(graph, FirstOrder(graph, SweepDirection::Down).run(lanes), SweepDirection::Down);
  if (best.crossings > 0) {
    Candidate other =
        improve(graph, FirstOrder(graph, SweepDirection::Up).run(lanes), SweepDirection::Up);
    if (other.crossings < best.crossings) best = std::move(other);
    exchange_neighbours(graph, best.order, {.passes = kExchangePasses});
  }
  return best.order;
}

}  // namespace reprise::viewer
