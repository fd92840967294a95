#include "layout/sweep.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "layout/segment_list.hpp"

namespace reprise::viewer {

namespace {

class Sweeper {
 public:
  Sweeper(const LayeredGraph& graph, RankOrder& order, const SweepDesc& desc)
      : graph_(graph),
        order_(order),
        desc_(desc),
        opening_(desc.direction == SweepDirection::Down ? ItemKind::Head : ItemKind::Tail),
        closing_(desc.direction == SweepDirection::Down ? ItemKind::Tail : ItemKind::Head),
        passing_(static_cast<std::uint32_t>(graph.segments.size())) {}

  void run() {
    const std::uint32_t ranks = graph_.rank_count;
    if (ranks == 0) return;
    const bool down = desc_.direction == SweepDirection::Down;
    for (const std::uint32_t item : order_.rank(down ? 0 : ranks - 1)) order_.gap[item] = 0;
    for (std::uint32_t step = 1; step < ranks; ++step) {
      arrange(down ? step - 1 : ranks - step, down ? step : ranks - 1 - step);
    }
  }

 private:
  struct Placed {
    double measure;  // in positions of the fixed rank
    std::uint32_t tie, item;
  };

  void arrange(std::uint32_t fixed, std::uint32_t free) {
    placed_.clear();
    unplaced_.clear();
    const auto items = order_.rank(free);
    for (std::uint32_t i = 0; i < items.size(); ++i) {
      const std::uint32_t tie =
          desc_.ties == SweepTies::Keep ? i : static_cast<std::uint32_t>(items.size()) - i;
      const double measure = measure_of(fixed, items[i]);
      (measure < 0 ? unplaced_ : placed_).push_back({measure, tie, items[i]});
    }
    std::sort(placed_.begin(), placed_.end(), [](const Placed& a, const Placed& b) {
      return a.measure != b.measure ? a.measure < b.measure : a.tie < b.tie;
    });
    merge_unplaced();
    pass_on(fixed, free);
  }

  // Negative if the item has no neighbour in the fixed rank.
  double measure_of(std::uint32_t fixed, std::uint32_t item) {
    if (graph_.kind[item] == closing_)
      return segment_position(order_, fixed, passing_.place_of(graph_.segment[item]));
    positions_.clear();
    if (desc_.direction == SweepDirection::Down) {
      for (std::uint32_t i = graph_.first_up[item]; i < graph_.first_up[item + 1]; ++i) {
        positions_.push_back(order_.position(graph_.link_from[graph_.up[i]]));
      }
    } else {
      for (std::uint32_t l = graph_.first_down[item]; l < graph_.first_down[item + 1]; ++l) {
        positions_.push_back(order_.position(graph_.link_to[l]));
      }
    }
    if (positions_.empty()) return -1;
    if (positions_.size() == 1) return positions_[0];
    return desc_.measure == SweepMeasure::Mean ? mean() : median();
  }
  [[nodiscard]] double mean() const {
    double sum = 0;
    for (const std::uint32_t p : positions_) sum += p;
    return sum / static_cast<double>(positions_.size());
  }
  // Between the two middle positions, weighted towards the denser side.
  double median() {
    std::sort(positions_.begin(), positions_.end());
    const std::size_t n = positions_.size(), m = n / 2;
    if (n % 2 != 0) return positions_[m];
    if (n == 2) return (positions_[0] + positions_[1]) / 2.0;
    const double left = positions_[m - 1] - positions_[0],
                 right = positions_[n - 1] - positions_[m];
    if (left + right == 0) return (positions_[m - 1] + positions_[m]) / 2.0;
    return (positions_[m - 1] * right + positions_[m] * left) / (left + right);
  }

  // Items without neighbours keep their index in the rank and take the measure of their left
  // neighbour.
  void merge_unplaced() {
    if (unplaced_.empty()) return;
    merged_.clear();
    auto next = placed_.begin();
    double measure = placed_.empty() ? 0 : placed_.front().measure;
    for (Placed& item : unplaced_) {
      while (next != placed_.end() && merged_.size() < order_.place[item.item]) {
        measure = next->measure;
        merged_.push_back(*next++);
      }
      item.measure = measure;
      merged_.push_back(item);
    }
    merged_.insert(merged_.end(), next, placed_.end());
    placed_.swap(merged_);
  }

  // Writes the free rank: each item goes to the right of the segments whose position in the fixed
  // rank is below its measure. Then updates the list for the free rank.
  void pass_on(std::uint32_t fixed, std::uint32_t free) {
    const auto before = order_.rank(fixed);
    const auto after = order_.rank(free);
    std::uint32_t seen = 0, opened = 0, closed = 0;
    std::size_t next_closed = 0;
    closing_positions_.clear();
    for (const Placed& p : placed_) {
      if (graph_.kind[p.item] == closing_) closing_positions_.push_back(p.measure);
    }
    for (std::uint32_t i = 0; i < placed_.size(); ++i) {
      const Placed& p = placed_[i];
      while (seen < before.size() && order_.position(before[seen]) < p.measure) {
        if (graph_.kind[before[seen]] == opening_) ++opened;
        ++seen;
      }
      while (next_closed < closing_positions_.size() &&
             closing_positions_[next_closed] < p.measure) {
        ++next_closed;
        ++closed;
      }
      const auto left = std::min(static_cast<std::uint32_t>(std::ceil(p.measure)),
                                 static_cast<std::uint32_t>(before.size()) + passing_.size());
      after[i] = p.item;
      order_.place[p.item] = i;
      gaps_.push_back(left - seen + opened - closed);
    }
    for (std::uint32_t i = 0; i < placed_.size(); ++i) order_.gap[after[i]] = gaps_[i];
    gaps_.clear();
    opened = 0;
    for (const std::uint32_t item : before) {
      if (graph_.kind[item] == opening_)
        passing_.insert(order_.gap[item] + opened++, graph_.segment[item]);
    }
    for (const std::uint32_t item : after) {
      if (graph_.kind[item] == closing_) passing_.erase(graph_.segment[item]);
    }
  }

  const LayeredGraph& graph_;
  RankOrder& order_;
  SweepDesc desc_;
  ItemKind opening_, closing_;
  SegmentList passing_;  // of the fixed rank
  std::vector<Placed> placed_, unplaced_, merged_;
  std::vector<std::uint32_t> positions_, gaps_;
  std::vector<double> closing_positions_;
};

}  // namespace

void sweep(const LayeredGraph& graph, RankOrder& order, const SweepDesc& desc) {
  Sweeper(graph, order, desc).run();
}

}  // namespace reprise::viewer
