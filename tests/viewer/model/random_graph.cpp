#include "viewer/model/random_graph.hpp"

#include <algorithm>
#include <string>

namespace reprise::test {

using namespace trace;

namespace {

std::uint64_t below(std::mt19937_64& random, std::uint64_t bound) { return random() % bound; }

}  // namespace

GraphVersion random_graph(std::uint64_t seed, const RandomGraph& options) {
  std::mt19937_64 random(seed);
  GraphVersion g;
  g.strings = {"", "alpha", "beta", "gamma", "forward", "backward"};
  g.labels = {{0, 0, 0}, {0, 4, 0}, {1, 5, 0}};
  g.kernels = {{1, 1, 0, 0}};
  g.lanes = options.lanes;
  for (std::uint32_t b = 0; b < options.buffers; ++b) {
    const std::uint64_t bytes = 256 * (1 + below(random, 4)), offset = 256 * below(random, 6);
    g.buffers.push_back({1 + b % 3, b % 4 == 3 ? BufferKind::Device : BufferKind::Transient, kNone,
                         0, bytes, b % 4 == 3 ? 0 : offset});
    if (b % 4 != 3) g.slab_bytes = std::max(g.slab_bytes, offset + bytes);
  }
  for (std::uint32_t b = 0; b < options.barriers; ++b)
    g.barriers.push_back({b, 0, 0, 0, kNone, 0, 0, Access::Write, Access::Read, 0});
  for (std::uint32_t n = 0; n < options.nodes; ++n) {
    Node node;
    node.kind = n % 5 == 4 ? NodeKind::Copy : NodeKind::Dispatch;
    node.name = 1 + static_cast<std::uint32_t>(below(random, 3));
    node.label = static_cast<std::uint32_t>(below(random, 3));
    node.kernel = node.kind == NodeKind::Dispatch ? 0 : kNone;
    node.lane = static_cast<std::uint32_t>(below(random, options.lanes));
    node.command = n;
    node.first_access = static_cast<std::uint32_t>(g.accesses.size());
    for (std::uint32_t b = 0; b < options.buffers; ++b) {
      if (below(random, 3) == 0)
        g.accesses.push_back(
            {b, below(random, 2) == 0 ? Access::Read : Access::Write, 0, 0, g.buffers[b].bytes});
    }
    node.access_count = static_cast<std::uint32_t>(g.accesses.size()) - node.first_access;
    g.nodes.push_back(node);
  }
  for (std::uint32_t to = 1; to < options.nodes; ++to) {
    for (std::uint32_t from = 0; from < to; ++from) {
      if (static_cast<double>(below(random, 1000)) >= options.density * 1000) continue;
      Edge e{from, to, EdgeCause::Hazard, Hazard::ReadAfterWrite, kNone, kNone, 0, 0};
      const std::uint64_t kind = below(random, 4);
      if (kind == 0) e.cause = EdgeCause::Lane, e.hazard = Hazard::None;
      if (kind == 1 && options.barriers != 0) {
        e.cause = EdgeCause::Barrier;
        e.hazard = Hazard::None;
        e.barrier = static_cast<std::uint32_t>(below(random, options.barriers));
        ++g.barriers[e.barrier].edges;
      }
      g.edges.push_back(e);
    }
  }
  return g;
}

SampleBlock random_replay(const GraphVersion& graph, std::uint64_t seed,
                          std::uint32_t one_lost_in) {
  std::mt19937_64 random(seed);
  SampleBlock block{graph.graph, graph.version, 0, 1, SampleSource::Host, {}};
  std::vector<Time> ends(graph.nodes.size(), 1'000);
  std::vector<Time> lanes(std::max<std::size_t>(graph.lanes, 1), 1'000);
  std::size_t edge = 0;
  for (std::uint32_t n = 0; n < graph.nodes.size(); ++n) {
    Time ready = lanes[graph.nodes[n].lane];
    for (; edge < graph.edges.size() && graph.edges[edge].to == n; ++edge)
      ready = std::max(ready, ends[graph.edges[edge].from]);
    const Time started = ready + static_cast<Time>(below(random, 3) * 10);
    const auto duration = static_cast<std::uint32_t>(10 + below(random, 90));
    ends[n] = lanes[graph.nodes[n].lane] = started + duration;
    const bool lost = one_lost_in != 0 && below(random, one_lost_in) == 0;
    block.samples.push_back({n, 0, lost ? 0 : started, lost ? 0 : duration,
                             static_cast<std::uint16_t>(graph.nodes[n].lane)});
  }
  std::stable_sort(block.samples.begin(), block.samples.end(),
                   [](const Sample& a, const Sample& b) { return a.started < b.started; });
  return block;
}

}  // namespace reprise::test
