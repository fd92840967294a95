#include "layout/repeats.hpp"

#include <algorithm>
#include <span>
#include <tuple>
#include <utility>

#include "layout/ranks.hpp"

namespace reprise::viewer {

namespace {

class RepeatFinder {
 public:
  RepeatFinder(const LayoutGraph& graph, const RepeatsDesc& desc)
      : graph_(graph),
        kinds_(desc.kinds),
        max_repeats_(desc.max_repeats),
        groups_(graph.node_count(), kNoGroup) {}

  std::vector<std::uint32_t> find() {
    find_runs();
    find_in_ranks();
    return std::move(groups_);
  }

 private:
  [[nodiscard]] bool equal(std::uint32_t a, std::uint32_t b) const {
    return kinds_[a] == kinds_[b] && group_of(a) == group_of(b);
  }
  [[nodiscard]] std::uint32_t group_of(std::uint32_t node) const {
    return graph_.node_group.empty() ? kNoGroup : graph_.node_group[node];
  }

  // Divides equal nodes into groups of about the same size.
  void add(std::span<const std::uint32_t> nodes) {
    if (nodes.size() < kMinRepeats) return;
    const std::size_t parts = (nodes.size() - 1) / max_repeats_ + 1,
                      size = (nodes.size() + parts - 1) / parts;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (i > 0 && i % size == 0) ++count_;
      groups_[nodes[i]] = count_;
    }
    ++count_;
  }

  void find_runs() {
    const Adjacency adjacency = adjacency_of(graph_);
    std::vector<std::uint8_t> seen(graph_.node_count(), 0);
    std::vector<std::uint32_t> run;
    for (std::uint32_t n = 0; n < graph_.node_count(); ++n) {
      if (seen[n] != 0 || kinds_[n] == kNoGroup) continue;
      run.assign(1, n);
      for (std::uint32_t at = n; adjacency.first_out[at + 1] == adjacency.first_out[at] + 1;) {
        const std::uint32_t next = graph_.edges[adjacency.out[adjacency.first_out[at]]].to;
        if (adjacency.first_in[next + 1] != adjacency.first_in[next] + 1 || !equal(n, next)) break;
        seen[next] = 1;
        run.push_back(at = next);
      }
      add(run);
    }
  }

  void find_in_ranks() {
    const std::vector<std::uint32_t> ranks = assign_ranks(graph_);
    std::vector<std::uint32_t> nodes;
    for (std::uint32_t n = 0; n < graph_.node_count(); ++n) {
      if (groups_[n] == kNoGroup && kinds_[n] != kNoGroup) nodes.push_back(n);
    }
    const auto key = [&](std::uint32_t n) { return std::tuple(ranks[n], kinds_[n], group_of(n)); };
    std::stable_sort(nodes.begin(), nodes.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
    for (std::size_t first = 0; first < nodes.size();) {
      std::size_t end = first;
      while (end < nodes.size() && key(nodes[end]) == key(nodes[first])) ++end;
      add(std::span(nodes).subspan(first, end - first));
      first = end;
    }
  }

  const LayoutGraph& graph_;
  const std::vector<std::uint32_t>& kinds_;
  std::uint32_t max_repeats_;
  std::vector<std::uint32_t> groups_;
  std::uint32_t count_ = 0;
};

}  // namespace

std::vector<std::uint32_t> find_repeats(const LayoutGraph& graph, const RepeatsDesc& desc) {
  return RepeatFinder(graph, desc).find();
}

}  // namespace reprise::viewer
