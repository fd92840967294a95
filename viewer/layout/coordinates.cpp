#include "layout/coordinates.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <span>

#include "layout/alignment.hpp"
#include "layout/balance.hpp"
#include "layout/neighbours.hpp"

namespace reprise::viewer {

namespace {

// Distances of each element to its left or right neighbours.
class DistanceIndex {
 public:
  DistanceIndex(const std::vector<Distance>& distances, std::uint32_t elements,
                std::uint32_t Distance::*end) {
    first_.assign(elements + 1, 0);
    for (const Distance& d : distances) ++first_[d.*end + 1];
    for (std::uint32_t e = 0; e < elements; ++e) first_[e + 1] += first_[e];
    distances_.resize(distances.size());
    std::vector<std::uint32_t> next(first_.begin(), first_.end() - 1);
    for (const Distance& d : distances) distances_[next[d.*end]++] = d;
  }
  [[nodiscard]] std::span<const Distance> of(std::uint32_t element) const {
    return {distances_.data() + first_[element], distances_.data() + first_[element + 1]};
  }

 private:
  std::vector<std::uint32_t> first_;
  std::vector<Distance> distances_;
};

// Orders the blocks so that each follows all blocks it keeps a distance from on its left.
// Alignments never cross, so the order exists.
std::vector<std::uint32_t> blocks_from_left(const Blocks& blocks, const DistanceIndex& to_right) {
  std::vector<std::uint32_t> waits_for(blocks.count(), 0), ready;
  for (std::uint32_t e = 0; e < blocks.block.size(); ++e) {
    for (const Distance& d : to_right.of(e)) ++waits_for[blocks.block[d.right]];
  }
  ready.reserve(blocks.count());
  for (std::uint32_t b = 0; b < blocks.count(); ++b) {
    if (waits_for[b] == 0) ready.push_back(b);
  }
  for (std::size_t i = 0; i < ready.size(); ++i) {
    for (std::uint32_t j = blocks.first[ready[i]]; j < blocks.first[ready[i] + 1]; ++j) {
      for (const Distance& d : to_right.of(blocks.elements[j])) {
        if (--waits_for[blocks.block[d.right]] == 0) ready.push_back(blocks.block[d.right]);
      }
    }
  }
  return ready;
}

class Compaction {
 public:
  Compaction(const Blocks& blocks, const DistanceIndex& to_left, const DistanceIndex& to_right)
      : blocks_(blocks),
        to_left_(to_left),
        to_right_(to_right),
        sorted_(blocks_from_left(blocks, to_right)),
        x_(blocks.count()) {}

  // Moves all blocks as far left as possible, then closes gaps towards right neighbours.
  std::vector<double> towards_left() {
    for (const std::uint32_t b : sorted_) x_[b] = least_right_of_left(b, 0);
    for (std::size_t i = sorted_.size(); i-- > 0;) {
      const double limit = greatest_left_of_right(sorted_[i], kFar);
      if (limit < kFar) x_[sorted_[i]] = std::max(x_[sorted_[i]], limit);
    }
    return by_item();
  }
  std::vector<double> towards_right() {
    for (std::size_t i = sorted_.size(); i-- > 0;)
      x_[sorted_[i]] = greatest_left_of_right(sorted_[i], 0);
    for (const std::uint32_t b : sorted_) {
      const double limit = least_right_of_left(b, -kFar);
      if (limit > -kFar) x_[b] = std::min(x_[b], limit);
    }
    return by_item();
  }

 private:
  static constexpr double kFar = std::numeric_limits<double>::max();

  [[nodiscard]] double least_right_of_left(std::uint32_t block, double start) const {
    double x = start;
    for (std::uint32_t j = blocks_.first[block]; j < blocks_.first[block + 1]; ++j) {
      for (const Distance& d : to_left_.of(blocks_.elements[j]))
        x = std::max(x, x_[blocks_.block[d.left]] + d.min);
    }
    return x;
  }
  [[nodiscard]] double greatest_left_of_right(std::uint32_t block, double start) const {
    double x = start;
    for (std::uint32_t j = blocks_.first[block]; j < blocks_.first[block + 1]; ++j) {
      for (const Distance& d : to_right_.of(blocks_.elements[j]))
        x = std::min(x, x_[blocks_.block[d.right]] - d.min);
    }
    return x;
  }
  [[nodiscard]] std::vector<double> by_item() const {
    std::vector<double> result(blocks_.block.size());
    for (std::size_t e = 0; e < result.size(); ++e) result[e] = x_[blocks_.block[e]];
    return result;
  }

  const Blocks& blocks_;
  const DistanceIndex& to_left_;
  const DistanceIndex& to_right_;
  std::vector<std::uint32_t> sorted_;
  std::vector<double> x_;
};

struct Extent {
  double left = 0, right = 0;
};

}  // namespace

std::vector<double> place_across(const LayeredGraph& graph, const RankOrder& order,
                                 const std::vector<float>& across, const LayoutOptions& options) {
  const auto elements = graph.item_count() + static_cast<std::uint32_t>(graph.segments.size());
  const std::vector<Distance> distances = distances_of(graph, order, across, options);
  const DistanceIndex to_left(distances, elements, &Distance::right),
      to_right(distances, elements, &Distance::left);
  const std::vector<std::uint8_t> bent = bent_links(graph, order);
  const SortedLinks links = sort_links(graph, order);

  constexpr std::array<AlignDesc, 4> kAlignments = {{{AlignWith::Above, AlignFrom::Left},
                                                     {AlignWith::Above, AlignFrom::Right},
                                                     {AlignWith::Below, AlignFrom::Left},
                                                     {AlignWith::Below, AlignFrom::Right}}};
  std::array<std::vector<double>, 4> places;
  std::array<Extent, 4> extents;
  std::size_t narrowest = 0;
  for (std::size_t a = 0; a < 4; ++a) {
    const Blocks blocks = align(graph, order, links, bent, kAlignments[a]);
    Compaction compaction(blocks, to_left, to_right);
    places[a] = kAlignments[a].from == AlignFrom::Left ? compaction.towards_left()
                                                       : compaction.towards_right();
    if (places[a].empty()) return {};
    const auto [low, high] = std::minmax_element(places[a].begin(), places[a].end());
    extents[a] = {*low, *high};
    if (extents[a].right - extents[a].left < extents[narrowest].right - extents[narrowest].left)
      narrowest = a;
  }
  const double width = extents[narrowest].right - extents[narrowest].left;
  if (graph.segments.empty() &&
      width > static_cast<double>(options.max_spread) * min_width(graph, order, across, options)) {
    return balance_across(graph, order, across, options);
  }
  std::array<double, 4> shift{};
  for (std::size_t a = 0; a < 4; ++a) {
    shift[a] = kAlignments[a].from == AlignFrom::Left ? extents[narrowest].left - extents[a].left
                                                      : extents[narrowest].right - extents[a].right;
  }
  std::vector<double> result(graph.item_count());
  for (std::uint32_t i = 0; i < graph.item_count(); ++i) {
    std::array<double, 4> x{};
    for (std::size_t a = 0; a < 4; ++a) x[a] = places[a][i] + shift[a];
    std::sort(x.begin(), x.end());
    result[i] = (x[1] + x[2]) / 2;
  }
  return result;
}

}  // namespace reprise::viewer
