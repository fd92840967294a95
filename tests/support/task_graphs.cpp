#include "support/task_graphs.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <stdexcept>
#include <utility>

namespace reprise::test {

namespace {

using Node = std::uint32_t;
using Nodes = std::vector<Node>;
using Parents = std::vector<Nodes>;

Parents chain(Node nodes) {
  Parents parents(nodes);
  for (Node i = 1; i < nodes; ++i) parents[i] = {i - 1};
  return parents;
}

Parents tree(Node nodes) {
  Parents parents(nodes);
  for (Node i = 1; i < nodes; ++i) parents[i] = {(i - 1) / 2};
  return parents;
}

Parents reverse_tree(Node nodes) {
  Parents parents(nodes);
  for (Node i = 1; i < nodes; ++i) parents[nodes - 1 - (i - 1) / 2].push_back(nodes - 1 - i);
  return parents;
}

// At least two layers; a node follows `count` nodes of the previous layer, starting with its
// counterpart.
Parents layers(Node nodes, Node width, Node count) {
  Parents parents(std::max(nodes, 2 * width));
  for (Node i = width; i < parents.size(); ++i) {
    for (Node k = 0; k < count; ++k)
      parents[i].push_back((i / width - 1) * width + (i + k) % width);
  }
  return parents;
}

Parents fork_join(Node nodes, Node width) {
  Parents parents(1);
  for (Node join = 0; parents.size() + width + 1 <= std::max(nodes, width + 2);) {
    Nodes branches;
    for (Node i = 0; i < width; ++i) {
      branches.push_back(static_cast<Node>(parents.size()));
      parents.push_back({join});
    }
    join = static_cast<Node>(parents.size());
    parents.push_back(branches);
  }
  return parents;
}

Parents wavefront(Node side) {
  Parents parents(std::size_t{side} * side);
  for (Node y = 0; y < side; ++y) {
    for (Node x = 0; x < side; ++x) {
      Nodes& of = parents[y * side + x];
      if (y != 0) of.push_back((y - 1) * side + x);
      if (x != 0) of.push_back(y * side + x - 1);
    }
  }
  return parents;
}

// Segments of 60 nodes, each composed recursively of two parts in series or up to six in parallel.
Parents series_parallel(Node nodes) {
  std::mt19937 random(1);
  Parents parents;
  const auto add = [&](Nodes after) {
    parents.push_back(std::move(after));
    return static_cast<Node>(parents.size() - 1);
  };
  const std::function<Nodes(Node, const Nodes&)> grow = [&](Node size,
                                                            const Nodes& after) -> Nodes {
    if (size <= 1) return {add(after)};
    if (random() % 2 != 0) {
      const Node first = 1 + random() % (size - 1);
      return grow(size - first, grow(first, after));
    }
    const Node branches = std::min<Node>(size, 2 + random() % 5);
    Nodes ends;
    for (Node i = 0, remaining = size; i < branches; ++i) {
      const Node part = i + 1 == branches ? remaining : std::max(1u, remaining / (branches - i));
      remaining -= part;
      const Nodes branch_ends = grow(part, after);
      ends.insert(ends.end(), branch_ends.begin(), branch_ends.end());
    }
    return ends.size() > 8 ? Nodes{add(ends)} : ends;
  };
  while (parents.size() < nodes) {
    const Nodes after = parents.empty() ? Nodes{} : Nodes{static_cast<Node>(parents.size() - 1)};
    static_cast<void>(
        add(grow(std::min<Node>(60, nodes - static_cast<Node>(parents.size())), after)));
  }
  return parents;
}

// Right-looking factorization of tiles x tiles: potrf, trsm, gemm and syrk.
Parents cholesky(Node tiles) {
  constexpr Node kNever = ~Node{0};
  Nodes last(std::size_t{tiles} * tiles, kNever);  // writer by tile
  Parents parents;
  const auto tile = [&](Node row, Node column) { return row * tiles + column; };
  const auto add = [&](const Nodes& read, Node written) {
    Nodes after;
    for (const Node at : read) after.push_back(last[at]);
    after.push_back(last[written]);
    std::erase(after, kNever);
    last[written] = static_cast<Node>(parents.size());
    parents.push_back(std::move(after));
  };
  for (Node k = 0; k < tiles; ++k) {
    add({}, tile(k, k));
    for (Node i = k + 1; i < tiles; ++i) add({tile(k, k)}, tile(i, k));
    for (Node i = k + 1; i < tiles; ++i) {
      for (Node j = k + 1; j < i; ++j) add({tile(i, k), tile(j, k)}, tile(i, j));
      add({tile(i, k)}, tile(i, i));
    }
  }
  return parents;
}

// Transformer blocks with 16 heads, one kernel per operation.
Parents attention(Node nodes) {
  constexpr Node kHeads = 16, kBlockNodes = 11 + 3 * kHeads;
  Parents parents;
  const auto add = [&](Nodes after) {
    parents.push_back(std::move(after));
    return static_cast<Node>(parents.size() - 1);
  };
  Nodes x;
  for (Node block = 0; block < std::max(1u, nodes / kBlockNodes); ++block) {
    const Node norm = add(x), q = add({norm}), k = add({norm}), v = add({norm});
    Nodes heads;
    for (Node head = 0; head < kHeads; ++head) heads.push_back(add({add({add({q, k})}), v}));
    const Node projected = add(heads);
    Nodes added{projected};
    added.insert(added.end(), x.begin(), x.end());
    const Node sum = add(added), second = add({sum}), up = add({second}), gelu = add({up}),
               down = add({gelu});
    x = {add({down, sum})};
  }
  return parents;
}

// Removes redundant edges.
void reduce(Parents& parents) {
  const std::size_t words = (parents.size() + 63) / 64;
  std::vector<std::vector<std::uint64_t>> ancestors(parents.size(),
                                                    std::vector<std::uint64_t>(words, 0));
  for (Node node = 0; node < parents.size(); ++node) {
    std::vector<std::uint64_t>& own_ancestors = ancestors[node];
    Nodes kept;
    std::sort(parents[node].rbegin(), parents[node].rend());
    for (const Node parent : parents[node]) {
      if ((own_ancestors[parent / 64] >> (parent % 64) & 1) != 0) continue;
      kept.push_back(parent);
      for (std::size_t i = 0; i < words; ++i) own_ancestors[i] |= ancestors[parent][i];
      own_ancestors[parent / 64] |= std::uint64_t{1} << (parent % 64);
    }
    std::sort(kept.begin(), kept.end());
    parents[node] = std::move(kept);
  }
}

// The largest number of tiles that gives at most `nodes` nodes: 3, or an even number; 1,000 nodes
// give 16.
Node cholesky_tiles(Node nodes) {
  Node tiles = 3;
  for (Node next = 4; next * (next + 1) * (next + 2) / 6 <= nodes; next += 2) tiles = next;
  return tiles;
}

constexpr std::string_view kNames[] = {
    "chain",        "wide",          "tree",      "reverse-tree",    "layers-4",  "layers-8",
    "layers-32",    "layers-128",    "sparse-4",  "sparse-8",        "sparse-32", "sparse-128",
    "fork-join-16", "fork-join-100", "wavefront", "series-parallel", "cholesky",  "attention"};

Parents parents_of(std::string_view name, Node nodes) {
  if (name == "chain") return chain(nodes);
  if (name == "wide") return Parents(nodes);
  if (name == "tree") return tree(nodes);
  if (name == "reverse-tree") return reverse_tree(nodes);
  for (const Node width : {4u, 8u, 32u, 128u}) {
    if (name == "layers-" + std::to_string(width)) return layers(nodes, width, width);
    if (name == "sparse-" + std::to_string(width)) return layers(nodes, width, width == 32 ? 3 : 2);
  }
  if (name == "fork-join-16") return fork_join(nodes, 16);
  if (name == "fork-join-100") return fork_join(nodes, 100);
  if (name == "wavefront") return wavefront(static_cast<Node>(std::lround(std::sqrt(nodes))));
  if (name == "series-parallel") return series_parallel(nodes);
  if (name == "cholesky") return cholesky(cholesky_tiles(nodes));
  if (name == "attention") return attention(nodes);
  std::string known;
  for (const std::string_view other : kNames)
    known += (known.empty() ? "" : ", ") + std::string(other);
  throw std::invalid_argument("unknown shape '" + std::string(name) + "'; known: " + known);
}

}  // namespace

std::uint64_t TaskGraph::edges() const {
  std::uint64_t count = 0;
  for (const Nodes& of : parents) count += of.size();
  return count;
}

std::uint32_t TaskGraph::depth() const {
  Nodes depths(parents.size(), 1);
  for (Node node = 0; node < size(); ++node) {
    for (const Node parent : parents[node])
      depths[node] = std::max(depths[node], depths[parent] + 1);
  }
  return depths.empty() ? 0 : *std::max_element(depths.begin(), depths.end());
}

std::span<const std::string_view> task_graph_names() { return kNames; }

TaskGraph make_task_graph(std::string_view name, std::uint32_t nodes) {
  TaskGraph graph{std::string(name), parents_of(name, std::max(nodes, 1u))};
  reduce(graph.parents);
  return graph;
}

}  // namespace reprise::test
