#include "layout/alignment.hpp"

#include <algorithm>
#include <numeric>
#include <span>

namespace reprise::viewer {

namespace {

constexpr std::uint32_t kNoElement = 0xffffffffu;

class Aligner {
 public:
  Aligner(const LayeredGraph& graph, const RankOrder& order, const SortedLinks& links,
          const std::vector<std::uint8_t>& bent, const AlignDesc& desc)
      : graph_(graph), order_(order), links_(links), bent_(bent), desc_(desc) {
    const std::size_t elements = graph.item_count() + graph.segments.size();
    above_.assign(elements, kNoElement);
    below_.assign(elements, kNoElement);
    for (std::uint32_t s = 0; s < graph.segments.size(); ++s) {
      join(graph.segments[s].head, graph.item_count() + s);
      join(graph.item_count() + s, graph.segments[s].tail);
    }
  }

  Blocks run() {
    for (std::uint32_t r = 0; r < graph_.rank_count; ++r)
      align_rank(desc_.with == AlignWith::Above ? r : graph_.rank_count - 1 - r);
    return blocks();
  }

 private:
  void join(std::uint32_t upper, std::uint32_t lower) {
    below_[upper] = lower;
    above_[lower] = upper;
  }

  [[nodiscard]] std::span<const std::uint32_t> links_of(std::uint32_t item) const {
    if (desc_.with == AlignWith::Above)
      return {links_.above.data() + graph_.first_up[item],
              links_.above.data() + graph_.first_up[item + 1]};
    return {links_.below.data() + graph_.first_down[item],
            links_.below.data() + graph_.first_down[item + 1]};
  }

  void align_rank(std::uint32_t r) {
    const auto items = order_.rank(r);
    const bool from_left = desc_.from == AlignFrom::Left;
    // the last position taken in the neighbouring rank
    std::int64_t reached = from_left ? -1 : INT64_MAX;
    for (std::uint32_t i = 0; i < items.size(); ++i) {
      const std::uint32_t item = items[from_left ? i : items.size() - 1 - i];
      const auto links = links_of(item);
      if (links.empty()) continue;
      const std::size_t low = (links.size() - 1) / 2, high = links.size() / 2;
      if (try_align(item, links[from_left ? low : high], reached)) continue;
      if (low != high) try_align(item, links[from_left ? high : low], reached);
    }
  }

  bool try_align(std::uint32_t item, std::uint32_t link, std::int64_t& reached) {
    if (bent_[link] != 0) return false;
    const std::uint32_t other =
        desc_.with == AlignWith::Above ? graph_.link_from[link] : graph_.link_to[link];
    const std::int64_t place = order_.place[other];
    if (desc_.from == AlignFrom::Left ? place <= reached : place >= reached) return false;
    if (desc_.with == AlignWith::Above) {
      join(other, item);
    } else {
      join(item, other);
    }
    reached = place;
    return true;
  }

  Blocks blocks() const {
    Blocks result;
    result.block.resize(above_.size());
    result.elements.reserve(above_.size());
    for (std::uint32_t e = 0; e < above_.size(); ++e) {
      if (above_[e] != kNoElement) continue;
      result.first.push_back(static_cast<std::uint32_t>(result.elements.size()));
      for (std::uint32_t i = e; i != kNoElement; i = below_[i]) {
        result.block[i] = static_cast<std::uint32_t>(result.first.size()) - 1;
        result.elements.push_back(i);
      }
    }
    result.first.push_back(static_cast<std::uint32_t>(result.elements.size()));
    return result;
  }

  const LayeredGraph& graph_;
  const RankOrder& order_;
  const SortedLinks& links_;
  const std::vector<std::uint8_t>& bent_;
  AlignDesc desc_;
  std::vector<std::uint32_t> above_, below_;
};

}  // namespace

SortedLinks sort_links(const LayeredGraph& graph, const RankOrder& order) {
  SortedLinks result;
  result.above = graph.up;
  result.below.resize(graph.link_count());
  std::iota(result.below.begin(), result.below.end(), 0u);
  const auto by_place_above = [&](std::uint32_t a, std::uint32_t b) {
    return order.place[graph.link_from[a]] < order.place[graph.link_from[b]];
  };
  const auto by_place_below = [&](std::uint32_t a, std::uint32_t b) {
    return order.place[graph.link_to[a]] < order.place[graph.link_to[b]];
  };
  for (std::uint32_t item = 0; item < graph.item_count(); ++item) {
    std::sort(result.above.begin() + graph.first_up[item],
              result.above.begin() + graph.first_up[item + 1], by_place_above);
    std::sort(result.below.begin() + graph.first_down[item],
              result.below.begin() + graph.first_down[item + 1], by_place_below);
  }
  return result;
}

Blocks align(const LayeredGraph& graph, const RankOrder& order, const SortedLinks& links,
             const std::vector<std::uint8_t>& bent, const AlignDesc& desc) {
  return Aligner(graph, order, links, bent, desc).run();
}

}  // namespace reprise::viewer
