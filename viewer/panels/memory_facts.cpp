#include "panels/memory_facts.hpp"

#include <algorithm>
#include <utility>

namespace reprise::viewer {

using trace::kNone;
using trace::Time;

namespace {

MemoryFacts facts_of(std::shared_ptr<const model::Graph> graph, model::MemoryUse use) {
  MemoryFacts facts;
  const std::size_t buffers = graph->record().buffers.size();
  facts.group.assign(buffers, kNone);
  facts.span.assign(buffers, kNone);
  facts.first_node.assign(buffers, kNone);
  facts.groups = model::alias_groups(*graph);
  for (std::uint32_t g = 0; g < facts.groups.size(); ++g) {
    for (const std::uint32_t b : facts.groups[g]) facts.group[b] = g;
  }
  facts.use = std::move(use);
  for (std::uint32_t s = 0; s < facts.use.spans.size(); ++s) {
    const model::BufferSpan& span = facts.use.spans[s];
    facts.span[span.buffer] = s;
    facts.first_node[span.buffer] = graph->uses(span.buffer).front().node;
    facts.least_bytes = s == 0 ? span.bytes : std::min(facts.least_bytes, span.bytes);
    facts.greatest_bytes = std::max(facts.greatest_bytes, span.bytes);
  }
  facts.shared_bytes = facts.use.naive_bytes > facts.use.slab_bytes ? facts.use.naive_bytes - facts.use.slab_bytes : 0;
  facts.graph = std::move(graph);
  return facts;
}

}  // namespace

MemoryFacts memory_facts(std::shared_ptr<const model::Graph> graph) {
  model::MemoryUse use = model::memory_by_schedule(*graph);
  const Time length = graph->own_node_count();
  MemoryFacts facts = facts_of(std::move(graph), std::move(use));
  facts.length = length;
  return facts;
}

MemoryFacts memory_facts(std::shared_ptr<const model::Graph> graph, const model::ReplayTimes& times) {
  model::ReplayTimes shifted = times;
  for (model::NodeSpan& node : shifted.nodes) {
    node.started -= times.began;
    node.ended -= times.began;
  }
  model::MemoryUse use = model::memory_by_time(*graph, shifted);
  MemoryFacts facts = facts_of(std::move(graph), std::move(use));
  facts.is_measured = true;
  facts.length = times.ended - times.began;
  return facts;
}

LiveBuffers live_at(const MemoryFacts& facts, Time at) {
  LiveBuffers live;
  std::vector<const model::BufferSpan*> spans;
  for (const model::BufferSpan& s : facts.use.spans) {
    if (s.began <= at && at < s.ended) spans.push_back(&s);
  }
  std::stable_sort(spans.begin(), spans.end(), [](const auto* a, const auto* b) { return a->bytes > b->bytes; });
  for (const model::BufferSpan* s : spans) {
    live.buffers.push_back(s->buffer);
    live.bytes += s->bytes;
  }
  return live;
}

std::uint64_t live_bytes_at(const MemoryFacts& facts, Time at) {
  const auto& steps = facts.use.steps;
  const auto after = std::upper_bound(steps.begin(), steps.end(), at, [](Time t, const model::MemoryStep& s) { return t < s.at; });
  return after == steps.begin() ? 0 : std::prev(after)->bytes;
}

std::vector<std::uint32_t> shares_bytes_with(const MemoryFacts& facts, std::uint32_t buffer) {
  std::vector<std::uint32_t> others;
  if (buffer >= facts.group.size() || facts.group[buffer] == kNone) return others;
  const auto& buffers = facts.graph->record().buffers;
  const auto overlap = [](const trace::Buffer& a, const trace::Buffer& b) {
    // Without a sum that could overflow.
    return a.offset <= b.offset ? b.offset - a.offset < a.bytes : a.offset - b.offset < b.bytes;
  };
  for (const std::uint32_t other : facts.groups[facts.group[buffer]]) {
    if (other != buffer && overlap(buffers[buffer], buffers[other])) others.push_back(other);
  }
  return others;
}

}  // namespace reprise::viewer
