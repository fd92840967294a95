#include "layout/ordering.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "layout/crossings.hpp"
#include "layout/exchange.hpp"
#include "layout/sweep.hpp"

namespace reprise::viewer {

namespace {

// Items join their ranks as a depth-first search from one end meets them, so that a tree has no crossing.
class FirstOrder {
 public:
  FirstOrder(const LayeredGraph& graph, SweepDirection direction) : graph_(graph), direction_(direction), seen_(graph.item_count(), 0) {}

  RankOrder run(const std::vector<std::uint32_t>& lanes) {
    std::vector<std::uint32_t> roots(graph_.item_count());
    std::iota(roots.begin(), roots.end(), 0u);
    const auto lane = [&](std::uint32_t item) { return item < lanes.size() ? lanes[item] : 0; };
    std::stable_sort(roots.begin(), roots.end(), [&](std::uint32_t a, std::uint32_t b) { return lane(a) < lane(b); });
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
    return direction_ == SweepDirection::Down ? graph_.first_up[item] == graph_.first_up[item + 1]
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
        for (std::uint32_t l = graph_.first_down[item + 1]; l-- > graph_.first_down[item];) push(graph_.link_to[l]);
      } else {
        if (graph_.kind[item] == ItemKind::Tail) push(graph_.segments[graph_.segment[item]].head);
        for (std::uint32_t i = graph_.first_up[item + 1]; i-- > graph_.first_up[item];) push(graph_.link_from[graph_.up[i]]);
      }
    }
  }

  const LayeredGraph& graph_;
  SweepDirection direction_;
  std::vector<std::uint8_t> seen_;
  std::vector<std::uint32_t> stack_;
};

struct Effort {
  std::uint32_t sweeps = 0;     // from each first order
  std::uint32_t patience = 0;   // sweeps in a row that win nothing
  std::uint32_t exchanges = 0;  // passes after a sweep
};

Effort effort_for(const LayeredGraph& graph) {
  const std::uint64_t size = graph.item_count() + graph.link_count() + 1;
  const auto passes = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(1'000'000 / size, 8, 600));
  const std::uint32_t exchanges = std::clamp<std::uint32_t>(passes / 20, 1, 8);
  return {std::clamp<std::uint32_t>(passes / (2 * (exchanges + 1)), 2, 24), 6, exchanges};
}

std::uint64_t exchange(const LayeredGraph& graph, RankOrder& order, std::uint32_t passes, EqualExchanges equal) {
  std::uint64_t removed = 0;
  for (std::uint32_t i = 0; i < passes; ++i) {
    const std::uint64_t now = exchange_neighbours(graph, order, equal);
    removed += now;
    if (now == 0) break;
  }
  return removed;
}

struct Candidate {
  RankOrder order;
  std::uint64_t crossings = 0;
};

// Sweeps up and down in turn from one first order.
Candidate improve(const LayeredGraph& graph, RankOrder order, SweepDirection first, const Effort& effort) {
  Candidate best;
  std::uint32_t in_vain = 0;
  for (std::uint32_t i = 0; i < effort.sweeps && in_vain < effort.patience; ++i) {
    const SweepDirection other = first == SweepDirection::Down ? SweepDirection::Up : SweepDirection::Down;
    sweep(graph, order,
          {.direction = i % 2 == 0 ? first : other,
           .measure = i % 4 < 2 ? SweepMeasure::Mean : SweepMeasure::Median,
           .ties = i % 8 < 4 ? SweepTies::Keep : SweepTies::Reverse});
    exchange(graph, order, effort.exchanges, i % 2 == 0 ? EqualExchanges::Leave : EqualExchanges::Make);
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
  const Effort effort = effort_for(graph);
  Candidate best = improve(graph, FirstOrder(graph, SweepDirection::Down).run(lanes), SweepDirection::Down, effort);
  if (best.crossings > 0) {
    Candidate other = improve(graph, FirstOrder(graph, SweepDirection::Up).run(lanes), SweepDirection::Up, effort);
    if (other.crossings < best.crossings) best = std::move(other);
    best.crossings -= exchange(graph, best.order, 2 * effort.exchanges, EqualExchanges::Leave);
  }
  return best.order;
}

}  // namespace reprise::viewer
