#include "layout/exchange.hpp"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

namespace reprise::viewer {

namespace {

// The positions in one adjacent rank that each item of a rank is linked to, ascending per item.
class LinkedPositions {
 public:
  void begin() {
    first_.assign(1, 0);
    positions_.clear();
  }
  void add(std::uint32_t position) { positions_.push_back(position); }
  void end_item() {
    if (positions_.size() - first_.back() > 1)
      std::sort(positions_.begin() + first_.back(), positions_.end());
    first_.push_back(static_cast<std::uint32_t>(positions_.size()));
  }
  [[nodiscard]] std::size_t size() const { return positions_.size(); }
  [[nodiscard]] std::span<const std::uint32_t> of(std::uint32_t i) const {
    return {positions_.data() + first_[i], positions_.data() + first_[i + 1]};
  }

 private:
  std::vector<std::uint32_t> first_, positions_;
};

// The reduction in crossings if a and b (a on the left) change positions: pairs of ends that cross,
// minus pairs that do not.
std::int64_t removed(std::span<const std::uint32_t> a, std::span<const std::uint32_t> b) {
  if (a.size() == 1 && b.size() == 1) return a[0] > b[0] ? 1 : (a[0] < b[0] ? -1 : 0);
  std::int64_t result = 0;
  // counts in b: ends left of, and not right of, the current end of a
  std::size_t below = 0, up_to = 0;
  for (const std::uint32_t end : a) {
    while (below < b.size() && b[below] < end) ++below;
    while (up_to < b.size() && b[up_to] <= end) ++up_to;
    result += static_cast<std::int64_t>(below) - static_cast<std::int64_t>(b.size() - up_to);
  }
  return result;
}

class Exchanger {
 public:
  Exchanger(const LayeredGraph& graph, RankOrder& order, const ExchangeDesc& desc)
      : graph_(graph), order_(order), desc_(desc), straights_(straights_of(graph, order)) {}

  Exchanged run() {
    // previous rank, this rank, next rank
    std::vector<std::uint8_t> changed(graph_.rank_count + 2, 1), changes(graph_.rank_count + 2, 0);
    for (std::uint32_t pass = 0; pass < desc_.passes; ++pass) {
      const std::uint64_t before = result_.removed;
      for (std::uint32_t r = 0; r < graph_.rank_count; ++r) {
        if (order_.rank(r).size() < 2 || (changed[r] | changed[r + 1] | changed[r + 2]) == 0)
          continue;
        if (exchange_rank(r)) changed[r + 1] = changes[r + 1] = 1;
      }
      if (result_.removed == before) break;
      changed.swap(changes);
      std::fill(changes.begin(), changes.end(), std::uint8_t{0});
    }
    return result_;
  }

 private:
  // Returns whether the rank changed.
  bool exchange_rank(std::uint32_t r) {
    collect(r);
    const auto items = order_.rank(r);
    lists_.resize(items.size());
    for (std::uint32_t i = 0; i < items.size(); ++i) lists_[i] = i;
    bool is_changed = false;
    for (std::uint32_t i = 0; i + 1 < items.size(); ++i) {
      if (!may_exchange(items[i], items[i + 1])) continue;
      const std::uint32_t a = lists_[i], b = lists_[i + 1];
      const std::int64_t gain =
          removed(above_.of(a), above_.of(b)) + removed(below_.of(a), below_.of(b));
      if (gain < 0 || (gain == 0 && desc_.equal == EqualExchanges::Leave)) continue;
      result_.removed += static_cast<std::uint64_t>(gain);
      std::swap(items[i], items[i + 1]);
      std::swap(lists_[i], lists_[i + 1]);
      is_changed = true;
    }
    result_.work += items.size() + above_.size() + below_.size();
    if (!is_changed) return false;
    for (std::uint32_t i = 0; i < items.size(); ++i) order_.place[items[i]] = i;
    if (!graph_.segments.empty()) count_straights(r);
    return true;
  }

  // Exchanging two heads or two tails would reorder their segments in all ranks.
  [[nodiscard]] bool may_exchange(std::uint32_t a, std::uint32_t b) const {
    if (order_.gap[a] != order_.gap[b]) return false;
    return graph_.kind[a] != graph_.kind[b] || graph_.kind[a] == ItemKind::Node ||
           graph_.kind[a] == ItemKind::Bend;
  }

  void collect(std::uint32_t r) {
    above_.begin();
    below_.begin();
    count_heads(r);
    for (const std::uint32_t item : order_.rank(r)) {
      if (graph_.kind[item] == ItemKind::Tail)
        above_.add(straight_above(r, straights_.above[item]));
      for (std::uint32_t i = graph_.first_up[item]; i < graph_.first_up[item + 1]; ++i) {
        above_.add(order_.position(graph_.link_from[graph_.up[i]]));
      }
      above_.end_item();
      if (graph_.kind[item] == ItemKind::Head)
        below_.add(straight_below(r, straights_.below[item]));
      for (std::uint32_t l = graph_.first_down[item]; l < graph_.first_down[item + 1]; ++l)
        below_.add(order_.position(graph_.link_to[l]));
      below_.end_item();
    }
  }

  // The heads above and the tails below rank r, by their index among the straight lines.
  void count_heads(std::uint32_t r) {
    heads_above_.clear();
    tails_below_.clear();
    if (graph_.segments.empty()) return;
    if (r > 0) {
      for (const std::uint32_t item : order_.rank(r - 1)) {
        if (graph_.kind[item] == ItemKind::Head) heads_above_.push_back(straights_.below[item]);
      }
    }
    if (r + 1 < graph_.rank_count) {
      for (const std::uint32_t item : order_.rank(r + 1)) {
        if (graph_.kind[item] == ItemKind::Tail) tails_below_.push_back(straights_.above[item]);
      }
    }
  }
  static std::uint32_t without(const std::vector<std::uint32_t>& others, std::uint32_t number) {
    return number - static_cast<std::uint32_t>(
                        std::lower_bound(others.begin(), others.end(), number) - others.begin());
  }
  [[nodiscard]] std::uint32_t straight_above(std::uint32_t r, std::uint32_t number) const {
    return segment_position(order_, r - 1, without(heads_above_, number));
  }
  [[nodiscard]] std::uint32_t straight_below(std::uint32_t r, std::uint32_t number) const {
    return segment_position(order_, r + 1, without(tails_below_, number));
  }
  void count_straights(std::uint32_t r) {
    std::uint32_t heads = 0, tails = 0;
    for (const std::uint32_t item : order_.rank(r)) {
      straights_.below[item] = order_.gap[item] + heads;
      straights_.above[item] = order_.gap[item] + tails;
      if (graph_.kind[item] == ItemKind::Head) ++heads;
      if (graph_.kind[item] == ItemKind::Tail) ++tails;
    }
  }

  const LayeredGraph& graph_;
  RankOrder& order_;
  ExchangeDesc desc_;
  Exchanged result_;
  Straights straights_;
  LinkedPositions above_, below_;
  std::vector<std::uint32_t> lists_, heads_above_, tails_below_;
};

}  // namespace

Exchanged exchange_neighbours(const LayeredGraph& graph, RankOrder& order,
                              const ExchangeDesc& desc) {
  return Exchanger(graph, order, desc).run();
}

}  // namespace reprise::viewer
