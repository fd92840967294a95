#include "viewer/layout/graph_shapes.hpp"

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

namespace reprise::test {

using namespace reprise::viewer;

namespace {

using Random = std::mt19937;

std::uint32_t below(Random& random, std::uint32_t limit) {
  return static_cast<std::uint32_t>(random() % limit);
}

}  // namespace

LayoutGraph graph_of(std::uint32_t nodes) {
  LayoutGraph graph;
  graph.sizes.assign(nodes, {80, 30});
  return graph;
}

LayoutGraph chain(std::uint32_t nodes) {
  LayoutGraph graph = graph_of(nodes);
  for (std::uint32_t n = 1; n < nodes; ++n) graph.edges.push_back({n - 1, n});
  return graph;
}

LayoutGraph random_dag(const RandomGraphDesc& desc) {
  Random random(desc.seed);
  LayoutGraph graph = graph_of(desc.nodes);
  for (Size& size : graph.sizes)
    size = {static_cast<float>(20 + below(random, 160)),
            static_cast<float>(10 + below(random, 50))};
  for (std::uint32_t e = 0; e < desc.edges && desc.nodes > 1; ++e) {
    const std::uint32_t from = below(random, desc.nodes - 1);
    graph.edges.push_back(
        {from, from + 1 + below(random, std::min(desc.reach, desc.nodes - 1 - from))});
  }
  for (std::uint32_t g = 0; g < 6; ++g)
    graph.group_parent.push_back(g < 2 ? kNoGroup : below(random, g));
  for (std::uint32_t n = 0; n < desc.nodes; ++n)
    graph.node_group.push_back(below(random, 3) == 0 ? kNoGroup : below(random, 6));
  return graph;
}

LayoutGraph random_layers(const RandomLayersDesc& desc) {
  Random random(desc.seed);
  LayoutGraph graph = graph_of(desc.layers * desc.width);
  for (std::uint32_t n = 0; n + desc.width < graph.node_count(); ++n) {
    const std::uint32_t next = (n / desc.width + 1) * desc.width;
    for (std::uint32_t e = 0; e < desc.edges_each; ++e)
      graph.edges.push_back({n, next + below(random, desc.width)});
  }
  return graph;
}

LayoutGraph random_tree(std::uint32_t nodes, std::uint32_t seed) {
  Random random(seed);
  LayoutGraph graph = graph_of(nodes);
  for (std::uint32_t n = 1; n < nodes; ++n) graph.edges.push_back({below(random, n), n});
  return graph;
}

LayoutGraph nested_chain(std::uint32_t nodes, std::uint32_t edges, std::uint32_t seed) {
  Random random(seed);
  LayoutGraph graph = chain(nodes);
  for (std::uint32_t e = 0; e < edges; ++e) {
    const std::uint32_t from = below(random, nodes / 2 - 1);
    graph.edges.push_back({from, nodes - 1 - from});
  }
  return graph;
}

std::uint64_t crossings_by_pairs(const LayeredGraph& graph, const RankOrder& order) {
  // The complete order of each rank: items, and segments numbered from item_count() on.
  std::vector<std::vector<std::uint32_t>> rows(graph.rank_count);
  std::vector<std::uint32_t> passing;
  for (std::uint32_t r = 0; r < graph.rank_count; ++r) {
    if (r > 0) {
      std::uint32_t opened = 0;
      for (const std::uint32_t item : order.rank(r - 1)) {
        if (graph.kind[item] == ItemKind::Head)
          passing.insert(passing.begin() + order.gap[item] + opened++, graph.segment[item]);
      }
    }
    for (const std::uint32_t item : order.rank(r)) {
      if (graph.kind[item] == ItemKind::Tail)
        passing.erase(std::find(passing.begin(), passing.end(), graph.segment[item]));
    }
    std::uint32_t done = 0;
    const auto pass = [&](std::uint32_t up_to) {
      for (; done < up_to; ++done) rows[r].push_back(graph.item_count() + passing[done]);
    };
    for (const std::uint32_t item : order.rank(r)) {
      pass(order.gap[item]);
      rows[r].push_back(item);
    }
    pass(static_cast<std::uint32_t>(passing.size()));
  }
  const auto place = [&](std::uint32_t r, std::uint32_t element) {
    return static_cast<std::int64_t>(std::find(rows[r].begin(), rows[r].end(), element) -
                                     rows[r].begin());
  };
  std::uint64_t crossings = 0;
  for (std::uint32_t r = 0; r + 1 < graph.rank_count; ++r) {
    std::vector<std::pair<std::int64_t, std::int64_t>> lines;
    for (std::uint32_t l = 0; l < graph.link_count(); ++l) {
      if (graph.rank[graph.link_from[l]] == r)
        lines.push_back({place(r, graph.link_from[l]), place(r + 1, graph.link_to[l])});
    }
    for (std::uint32_t s = 0; s < graph.segments.size(); ++s) {
      const auto [head, tail] = graph.segments[s];
      if (graph.rank[head] > r || graph.rank[tail] <= r) continue;
      lines.push_back({place(r, graph.rank[head] == r ? head : graph.item_count() + s),
                       place(r + 1, graph.rank[tail] == r + 1 ? tail : graph.item_count() + s)});
    }
    for (std::size_t i = 0; i < lines.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if ((lines[i].first - lines[j].first) * (lines[i].second - lines[j].second) < 0)
          ++crossings;
      }
    }
  }
  return crossings;
}

}  // namespace reprise::test
