#include "model/memory_use.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

#include "base/antichain.hpp"

namespace reprise::model {

using trace::Time;

namespace {

MemoryUse use_of(const Graph& graph, std::vector<BufferSpan> spans) {
  MemoryUse use;
  use.spans = std::move(spans);
  use.slab_bytes = graph.record().slab_bytes;
  // bytes that become live and dead
  std::map<Time, std::pair<std::uint64_t, std::uint64_t>> changes;
  for (const BufferSpan& s : use.spans) {
    use.naive_bytes += s.bytes;
    changes[s.started].first += s.bytes;
    changes[s.ended].second += s.bytes;
  }
  std::uint64_t live = 0;
  for (const auto& [at, change] : changes) {
    live = live + change.first - change.second;
    use.steps.push_back({at, live});
    if (live > use.peak_bytes) {
      use.peak_bytes = live;
      use.peak_at = at;
    }
  }
  std::vector<const BufferSpan*> at_peak;
  for (const BufferSpan& s : use.spans) {
    if (s.started <= use.peak_at && use.peak_at < s.ended) at_peak.push_back(&s);
  }
  std::stable_sort(at_peak.begin(), at_peak.end(),
                   [](const BufferSpan* a, const BufferSpan* b) { return a->bytes > b->bytes; });
  for (const BufferSpan* s : at_peak) use.live_at_peak.push_back(s->buffer);
  // The planner's figure includes alignment. Traces of other programs lack it.
  if (graph.record().naive_bytes != 0) use.naive_bytes = graph.record().naive_bytes;
  use.waste_bytes = use.slab_bytes > use.peak_bytes ? use.slab_bytes - use.peak_bytes : 0;
  return use;
}

// `start_of` and `end_of` return a node's times. Accesses of body nodes count at the times of the
// node that runs the body.
template <class StartOf, class EndOf>
std::vector<BufferSpan> spans_of(const Graph& graph, StartOf start_of, EndOf end_of) {
  std::vector<BufferSpan> spans;
  for (std::uint32_t b = 0; b < graph.record().buffers.size(); ++b) {
    const trace::Buffer& buffer = graph.record().buffers[b];
    const auto uses = graph.uses(b);
    if (buffer.kind != trace::BufferKind::Transient || uses.empty()) continue;
    BufferSpan span{b, start_of(uses.front().node), end_of(uses.front().node), buffer.offset,
                    buffer.bytes};
    for (const BufferUse& u : uses) {
      if (u.node >= graph.own_node_count()) continue;
      span.started = std::min(span.started, start_of(u.node));
      span.ended = std::max(span.ended, end_of(u.node));
    }
    spans.push_back(span);
  }
  return spans;
}

constexpr std::uint32_t kMaxBuffers = 4096, kMaxExactNodes = 16384;  // for exact lower bounds
constexpr std::size_t kMaxSavings = 24;                       // buffers whose saving is computed
constexpr std::uint64_t kMaxWeight = std::uint64_t{1} << 49;  // keeps sums below 2^62

using detail::max_weight_antichain;
using detail::OrderedPairs;
using NodeBits = std::vector<std::uint64_t>;

// Per own node: the own nodes that edges order after it, one bit each.
std::vector<NodeBits> reachable_nodes(const Graph& graph) {
  const std::uint32_t nodes = graph.own_node_count();
  std::vector<NodeBits> reachable(nodes, NodeBits((nodes + 63) / 64, 0));
  for (std::uint32_t n = nodes; n-- > 0;) {
    for (const Neighbour& next : graph.successors(n)) {
      if (next.node >= nodes) continue;
      for (std::size_t w = 0; w < reachable[n].size(); ++w)
        reachable[n][w] |= reachable[next.node][w];
      reachable[n][next.node / 64] |= std::uint64_t{1} << next.node % 64;
    }
  }
  return reachable;
}

// The order of buffers, all uses of one before all uses of the other, without pairs that others
// imply.
OrderedPairs order_of(const Graph& graph, const std::vector<BufferSpan>& spans) {
  const std::vector<NodeBits> reachable = reachable_nodes(graph);
  const std::size_t words = (spans.size() + 63) / 64;
  std::vector<NodeBits> later(spans.size(), NodeBits(words, 0));
  for (std::uint32_t a = 0; a < spans.size(); ++a) {
    NodeBits after(reachable.front().size(), ~std::uint64_t{0});
    for (const BufferUse& use : graph.uses(spans[a].buffer)) {
      const NodeBits& of_use = reachable[graph.own_node_of(use.node)];
      for (std::size_t w = 0; w < after.size(); ++w) after[w] &= of_use[w];
    }
    for (std::uint32_t b = 0; b < spans.size(); ++b) {
      const auto uses = graph.uses(spans[b].buffer);
      const bool is_after = std::all_of(uses.begin(), uses.end(), [&](const BufferUse& use) {
        const std::uint32_t node = graph.own_node_of(use.node);
        return (after[node / 64] >> node % 64 & 1) != 0;
      });
      if (is_after) later[a][b / 64] |= std::uint64_t{1} << b % 64;
    }
  }
  const auto for_each = [&](const NodeBits& bits, const auto& visit) {
    for (std::uint32_t w = 0; w < words; ++w)
      for (std::uint64_t rest = bits[w]; rest != 0; rest &= rest - 1)
        visit(w * 64 + static_cast<std::uint32_t>(std::countr_zero(rest)));
  };
  OrderedPairs pairs;
  for (std::uint32_t a = 0; a < spans.size(); ++a) {
    NodeBits covered = later[a];
    for_each(later[a], [&](std::uint32_t b) {
      for (std::size_t w = 0; w < words; ++w) covered[w] &= ~later[b][w];
    });
    for_each(covered, [&](std::uint32_t b) { pairs.emplace_back(a, b); });
  }
  return pairs;
}

}  // namespace

LowerBound lower_bound(const Graph& graph) {
  LowerBound bound;
  const MemoryUse use = memory_by_node_order(graph);
  const std::vector<BufferSpan>& spans = use.spans;
  if (spans.size() > kMaxBuffers || graph.own_node_count() > kMaxExactNodes) {
    for (const std::uint32_t buffer : use.live_at_peak) bound.items.push_back({buffer});
    bound.bytes = use.peak_bytes;
    return bound;
  }
  bound.is_exact = true;
  if (spans.empty()) return bound;
  const OrderedPairs order = order_of(graph, spans);
  std::vector<std::uint64_t> weights;
  for (const BufferSpan& s : spans) weights.push_back(std::min(s.bytes, kMaxWeight));
  const auto total = [&](const std::vector<std::uint32_t>& chosen) {
    std::uint64_t bytes = 0;
    for (const std::uint32_t s : chosen) bytes += weights[s];
    return bytes;
  };
  std::vector<std::uint32_t> chosen = max_weight_antichain(weights, order);
  bound.bytes = total(chosen);
  std::stable_sort(chosen.begin(), chosen.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return weights[a] > weights[b]; });
  for (const std::uint32_t s : chosen) {
    LowerBound::Item item{spans[s].buffer};
    if (bound.items.size() < kMaxSavings) {
      const std::uint64_t bytes = std::exchange(weights[s], 0);
      item.saves = bound.bytes - total(max_weight_antichain(weights, order));
      item.is_known = true;
      weights[s] = bytes;
    }
    bound.items.push_back(item);
  }
  return bound;
}

MemoryUse memory_by_node_order(const Graph& graph) {
  return use_of(graph, spans_of(
                           graph, [](std::uint32_t n) { return Time{n}; },
                           [](std::uint32_t n) { return Time{n} + 1; }));
}

MemoryUse memory_by_time(const Graph& graph, const ReplayTimes& times) {
  return use_of(graph, spans_of(
                           graph, [&](std::uint32_t n) { return times.nodes[n].started; },
                           [&](std::uint32_t n) { return times.nodes[n].ended; }));
}

std::vector<std::vector<std::uint32_t>> alias_groups(const Graph& graph) {
  std::vector<std::uint32_t> order;
  const auto& buffers = graph.record().buffers;
  for (std::uint32_t b = 0; b < buffers.size(); ++b) {
    if (buffers[b].kind == trace::BufferKind::Transient && buffers[b].bytes != 0)
      order.push_back(b);
  }
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::pair(buffers[a].offset, a) < std::pair(buffers[b].offset, b);
  });
  // Sweep by offset: a group ends where no member covers the next offset.
  std::vector<std::vector<std::uint32_t>> groups;
  std::uint64_t end = 0;
  for (const std::uint32_t b : order) {
    const std::uint64_t last = buffers[b].bytes > ~buffers[b].offset
                                   ? ~std::uint64_t{0}
                                   : buffers[b].offset + buffers[b].bytes;
    if (groups.empty() || buffers[b].offset >= end) groups.emplace_back();
    groups.back().push_back(b);
    end = std::max(groups.back().size() == 1 ? 0 : end, last);
  }
  std::erase_if(groups, [](const auto& group) { return group.size() < 2; });
  for (auto& group : groups) std::sort(group.begin(), group.end());
  std::sort(groups.begin(), groups.end());
  return groups;
}

}  // namespace reprise::model
