#include "layout/crossings.hpp"

#include <vector>

namespace reprise::viewer {

namespace {

// Prefix sums of link ends by position (a binary indexed tree).
class AccumulatorTree {
 public:
  void reset(std::uint32_t places) {
    counts_.assign(places + 1, 0);
    total_ = 0;
  }
  void add(std::uint32_t place) {
    ++total_;
    for (std::uint32_t i = place + 1; i < counts_.size(); i += i & (0 - i)) ++counts_[i];
  }
  [[nodiscard]] std::uint32_t right_of(std::uint32_t place) const {
    std::uint32_t left = 0;
    for (std::uint32_t i = place + 1; i > 0; i -= i & (0 - i)) left += counts_[i];
    return total_ - left;
  }

 private:
  std::vector<std::uint32_t> counts_;
  std::uint32_t total_ = 0;
};

}  // namespace

std::uint64_t count_crossings(const LayeredGraph& graph, const RankOrder& order) {
  std::uint64_t crossings = 0;
  AccumulatorTree ends;
  for (std::uint32_t r = 0; r + 1 < graph.rank_count; ++r) {
    ends.reset(order.first[r + 2] - order.first[r + 1]);
    for (const std::uint32_t item : order.rank(r)) {
      const std::uint32_t begin = graph.first_down[item], end = graph.first_down[item + 1];
      for (std::uint32_t l = begin; l < end; ++l)
        crossings += ends.right_of(order.place[graph.link_to[l]]);
      for (std::uint32_t l = begin; l < end; ++l) ends.add(order.place[graph.link_to[l]]);
    }
  }
  if (graph.segments.empty()) return crossings;
  const Straights straights = straights_of(graph, order);
  for (std::uint32_t l = 0; l < graph.link_count(); ++l) {
    const std::uint32_t a = straights.below[graph.link_from[l]],
                        b = straights.above[graph.link_to[l]];
    crossings += a > b ? a - b : b - a;
  }
  return crossings;
}

}  // namespace reprise::viewer
