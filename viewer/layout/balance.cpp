#include "layout/balance.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace reprise::viewer {

namespace {

constexpr std::uint32_t kRounds = 10;
constexpr double kInnerWeight = 8;  // of a link between two bends, which should be straight
constexpr double kOuterWeight = 1;
constexpr double kStayWeight = 0.1;  // of an item's current coordinate

enum class Side : std::uint8_t { Above, Below, Both };

// The offset of each item from the first of its rank, at minimal distances.
std::vector<double> offsets_of(const LayeredGraph& graph, const RankOrder& order,
                               const std::vector<float>& across, const LayoutOptions& options) {
  const auto width = [&](std::uint32_t item) {
    return item < graph.node_count ? static_cast<double>(across[item]) : 0;
  };
  std::vector<double> result(graph.item_count(), 0);
  for (std::uint32_t r = 0; r < graph.rank_count; ++r) {
    const auto items = order.rank(r);
    for (std::size_t i = 1; i < items.size(); ++i) {
      const bool nodes = items[i - 1] < graph.node_count && items[i] < graph.node_count;
      const double groups =
          nodes && options.group_gap > 0
              ? static_cast<double>(options.group_gap) * graph.borders(items[i - 1], items[i])
              : 0;
      const double gap = static_cast<double>(nodes ? options.node_gap : options.edge_gap) + groups;
      result[items[i]] = result[items[i - 1]] + gap + (width(items[i - 1]) + width(items[i])) / 2;
    }
  }
  return result;
}

class Balancer {
 public:
  Balancer(const LayeredGraph& graph, const RankOrder& order, std::vector<double> offsets)
      : graph_(graph), order_(order), offsets_(std::move(offsets)), x_(graph.item_count()) {
    for (std::uint32_t r = 0; r < graph.rank_count; ++r) {
      const auto items = order.rank(r);
      for (const std::uint32_t item : items) x_[item] = offsets_[item] - offsets_[items.back()] / 2;
    }
  }

  std::vector<double> run() {
    for (std::uint32_t round = 0; round < kRounds; ++round) {
      const bool is_last = round + 2 >= kRounds;
      for (std::uint32_t r = 1; r < graph_.rank_count; ++r)
        balance(r, is_last ? Side::Both : Side::Above);
      for (std::uint32_t r = graph_.rank_count; r-- > 0;)
        balance(r, is_last ? Side::Both : Side::Below);
    }
    return std::move(x_);
  }

 private:
  // A run of items at minimal distance: without their offsets, their coordinates are equal.
  struct Run {
    double sum = 0, weight = 0;
    std::size_t end = 0;
    [[nodiscard]] double place() const { return sum / weight; }
  };

  void balance(std::uint32_t r, Side side) {
    const auto items = order_.rank(r);
    runs_.clear();
    for (std::size_t i = 0; i < items.size(); ++i) {
      Run run = wish_of(items[i], side);
      run.sum -= run.weight * offsets_[items[i]];
      run.end = i + 1;
      while (!runs_.empty() && runs_.back().place() >= run.place()) {
        run.sum += runs_.back().sum;
        run.weight += runs_.back().weight;
        runs_.pop_back();
      }
      runs_.push_back(run);
    }
    std::size_t i = 0;
    for (const Run& run : runs_) {
      for (; i < run.end; ++i) x_[items[i]] = run.place() + offsets_[items[i]];
    }
  }

  [[nodiscard]] Run wish_of(std::uint32_t item, Side side) const {
    Run run{.sum = kStayWeight * x_[item], .weight = kStayWeight};
    const auto add = [&](std::uint32_t link, std::uint32_t other) {
      const double weight = graph_.is_inner(link) ? kInnerWeight : kOuterWeight;
      run.sum += weight * x_[other];
      run.weight += weight;
    };
    if (side != Side::Below) {
      for (std::uint32_t i = graph_.first_up[item]; i < graph_.first_up[item + 1]; ++i)
        add(graph_.up[i], graph_.link_from[graph_.up[i]]);
    }
    if (side != Side::Above) {
      for (std::uint32_t l = graph_.first_down[item]; l < graph_.first_down[item + 1]; ++l)
        add(l, graph_.link_to[l]);
    }
    return run;
  }

  const LayeredGraph& graph_;
  const RankOrder& order_;
  std::vector<double> offsets_, x_;
  std::vector<Run> runs_;
};

}  // namespace

double min_width(const LayeredGraph& graph, const RankOrder& order,
                 const std::vector<float>& across, const LayoutOptions& options) {
  const std::vector<double> offsets = offsets_of(graph, order, across, options);
  return offsets.empty() ? 0 : *std::max_element(offsets.begin(), offsets.end());
}

std::vector<double> balance_across(const LayeredGraph& graph, const RankOrder& order,
                                   const std::vector<float>& across, const LayoutOptions& options) {
  if (!graph.segments.empty()) throw std::invalid_argument("balance: the graph has segments");
  return Balancer(graph, order, offsets_of(graph, order, across, options)).run();
}

}  // namespace reprise::viewer
