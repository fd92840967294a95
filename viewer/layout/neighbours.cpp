#include "layout/neighbours.hpp"

#include <algorithm>

#include "layout/segment_list.hpp"

namespace reprise::viewer {

namespace {

constexpr std::uint32_t kNoPosition = 0xffffffffu;

// Sweeps down the ranks with a list of the passing segments. Segments that become adjacent in the
// list keep their distance even if items lie between them; the items have their own distances to
// both.
class DistanceCollector {
 public:
  DistanceCollector(const LayeredGraph& graph, const RankOrder& order,
                    const std::vector<float>& across, const LayoutOptions& options)
      : graph_(graph),
        order_(order),
        across_(across),
        options_(options),
        passing_(static_cast<std::uint32_t>(graph.segments.size())) {}

  std::vector<Distance> run() {
    for (std::uint32_t r = 0; r < graph_.rank_count; ++r) {
      if (r > 0) open_segments(r - 1);
      close_segments(r);
      collect(r);
    }
    return std::move(result_);
  }

 private:
  [[nodiscard]] std::uint32_t element(std::uint32_t segment) const {
    return graph_.item_count() + segment;
  }

  void keep(std::uint32_t left, std::uint32_t right) {
    const bool nodes = left < graph_.node_count && right < graph_.node_count;
    const double half = (width(left) + width(right)) / 2;
    const double gap = static_cast<double>(nodes ? options_.node_gap : options_.edge_gap);
    const double groups =
        nodes && options_.group_gap > 0
            ? static_cast<double>(options_.group_gap) * graph_.borders(left, right)
            : 0;
    result_.push_back({left, right, half + gap + groups});
  }
  [[nodiscard]] double width(std::uint32_t e) const {
    return e < graph_.node_count ? static_cast<double>(across_[e]) : 0;
  }

  void open_segments(std::uint32_t r) {
    std::uint32_t opened = 0;
    for (const std::uint32_t item : order_.rank(r)) {
      if (graph_.kind[item] != ItemKind::Head) continue;
      const std::uint32_t segment = graph_.segment[item], place = order_.gap[item] + opened++;
      passing_.insert(place, segment);
      if (place > 0) keep(element(passing_.at(place - 1)), element(segment));
      if (place + 1 < passing_.size()) keep(element(segment), element(passing_.at(place + 1)));
    }
  }
  void close_segments(std::uint32_t r) {
    for (const std::uint32_t item : order_.rank(r)) {
      if (graph_.kind[item] != ItemKind::Tail) continue;
      const std::uint32_t place = passing_.place_of(graph_.segment[item]);
      passing_.erase(graph_.segment[item]);
      if (place > 0 && place < passing_.size())
        keep(element(passing_.at(place - 1)), element(passing_.at(place)));
    }
  }
  void collect(std::uint32_t r) {
    std::uint32_t last = kNoPosition;
    for (const std::uint32_t item : order_.rank(r)) {
      const std::uint32_t gap = order_.gap[item];
      if (last != kNoPosition && order_.gap[last] == gap) {
        keep(last, item);
      } else {
        if (last != kNoPosition) keep(last, element(passing_.at(order_.gap[last])));
        if (gap > 0) keep(element(passing_.at(gap - 1)), item);
      }
      last = item;
    }
    if (last != kNoPosition && order_.gap[last] < passing_.size())
      keep(last, element(passing_.at(order_.gap[last])));
  }

  const LayeredGraph& graph_;
  const RankOrder& order_;
  const std::vector<float>& across_;
  const LayoutOptions& options_;
  SegmentList passing_;
  std::vector<Distance> result_;
};

// Marks the links between two ranks that cross a piece of a long edge.
void mark_between(const LayeredGraph& graph, const RankOrder& order, std::uint32_t r,
                  std::vector<std::uint8_t>& bent) {
  const auto lower = order.rank(r + 1);
  const std::uint32_t last_above = order.first[r + 1] - order.first[r];
  std::uint32_t done = 0, from = 0;
  for (std::uint32_t i = 0; i < lower.size(); ++i) {
    std::uint32_t to = kNoPosition;
    const std::uint32_t item = lower[i];
    if (graph.first_up[item] != graph.first_up[item + 1]) {
      const std::uint32_t link = graph.up[graph.first_up[item]];
      if (graph.is_inner(link)) to = order.place[graph.link_from[link]];
    }
    if (to == kNoPosition && i + 1 < lower.size()) continue;
    if (to == kNoPosition) to = last_above;
    for (; done <= i; ++done) {
      for (std::uint32_t u = graph.first_up[lower[done]]; u < graph.first_up[lower[done] + 1];
           ++u) {
        const std::uint32_t link = graph.up[u], place = order.place[graph.link_from[link]];
        if ((place < from || place > to) && !graph.is_inner(link)) bent[link] = 1;
      }
    }
    from = to;
  }
}

}  // namespace

std::vector<Distance> distances_of(const LayeredGraph& graph, const RankOrder& order,
                                   const std::vector<float>& across, const LayoutOptions& options) {
  return DistanceCollector(graph, order, across, options).run();
}

std::vector<std::uint8_t> bent_links(const LayeredGraph& graph, const RankOrder& order) {
  std::vector<std::uint8_t> bent(graph.link_count(), 0);
  for (std::uint32_t r = 0; r + 1 < graph.rank_count; ++r) mark_between(graph, order, r, bent);
  if (graph.segments.empty()) return bent;
  const Straights straights = straights_of(graph, order);
  for (std::uint32_t l = 0; l < graph.link_count(); ++l) {
    if (straights.below[graph.link_from[l]] != straights.above[graph.link_to[l]]) bent[l] = 1;
  }
  return bent;
}

}  // namespace reprise::viewer
