#include "panels/memory/memory_view_model.hpp"

#include <algorithm>
#include <utility>

namespace reprise::viewer {

using trace::kNone;
using trace::Time;

namespace {

MemoryViewModel view_model_of(std::shared_ptr<const model::Graph> graph, model::MemoryUse use) {
  MemoryViewModel view_model;
  const std::size_t buffers = graph->record().buffers.size();
  view_model.group.assign(buffers, kNone);
  view_model.span.assign(buffers, kNone);
  view_model.first_node.assign(buffers, kNone);
  view_model.groups = model::alias_groups(*graph);
  for (std::uint32_t g = 0; g < view_model.groups.size(); ++g) {
    for (const std::uint32_t b : view_model.groups[g]) view_model.group[b] = g;
  }
  view_model.use = std::move(use);
  for (std::uint32_t s = 0; s < view_model.use.spans.size(); ++s) {
    const model::BufferSpan& span = view_model.use.spans[s];
    view_model.span[span.buffer] = s;
    view_model.first_node[span.buffer] = graph->uses(span.buffer).front().node;
    view_model.min_bytes = s == 0 ? span.bytes : std::min(view_model.min_bytes, span.bytes);
    view_model.max_bytes = std::max(view_model.max_bytes, span.bytes);
  }
  view_model.saved_bytes = view_model.use.naive_bytes > view_model.use.slab_bytes
                               ? view_model.use.naive_bytes - view_model.use.slab_bytes
                               : 0;
  view_model.graph = std::move(graph);
  return view_model;
}

}  // namespace

MemoryViewModel memory_view_model(std::shared_ptr<const model::Graph> graph) {
  model::MemoryUse use = model::memory_by_node_order(*graph);
  const Time length = graph->own_node_count();
  MemoryViewModel view_model = view_model_of(std::move(graph), std::move(use));
  view_model.length = length;
  return view_model;
}

MemoryViewModel memory_view_model(std::shared_ptr<const model::Graph> graph,
                                  const model::ReplayTimes& times) {
  model::ReplayTimes shifted = times;
  for (model::NodeSpan& node : shifted.nodes) {
    node.started -= times.started;
    node.ended -= times.started;
  }
  model::MemoryUse use = model::memory_by_time(*graph, shifted);
  MemoryViewModel view_model = view_model_of(std::move(graph), std::move(use));
  view_model.is_measured = true;
  view_model.length = times.ended - times.started;
  return view_model;
}

LiveBuffers live_at(const MemoryViewModel& view_model, Time at) {
  LiveBuffers live;
  std::vector<const model::BufferSpan*> spans;
  for (const model::BufferSpan& s : view_model.use.spans) {
    if (s.started <= at && at < s.ended) spans.push_back(&s);
  }
  std::stable_sort(spans.begin(), spans.end(),
                   [](const auto* a, const auto* b) { return a->bytes > b->bytes; });
  for (const model::BufferSpan* s : spans) {
    live.buffers.push_back(s->buffer);
    live.bytes += s->bytes;
  }
  return live;
}

std::uint64_t live_bytes_at(const MemoryViewModel& view_model, Time at) {
  const auto& steps = view_model.use.steps;
  const auto after = std::upper_bound(steps.begin(), steps.end(), at,
                                      [](Time t, const model::MemoryStep& s) { return t < s.at; });
  return after == steps.begin() ? 0 : std::prev(after)->bytes;
}

std::vector<std::uint32_t> aliasing_buffers(const MemoryViewModel& view_model,
                                            std::uint32_t buffer) {
  std::vector<std::uint32_t> others;
  if (buffer >= view_model.group.size() || view_model.group[buffer] == kNone) return others;
  const auto& buffers = view_model.graph->record().buffers;
  const auto overlap = [](const trace::Buffer& a, const trace::Buffer& b) {
    // Avoids an overflow of offset + bytes.
    return a.offset <= b.offset ? b.offset - a.offset < a.bytes : a.offset - b.offset < b.bytes;
  };
  for (const std::uint32_t other : view_model.groups[view_model.group[buffer]]) {
    if (other != buffer && overlap(buffers[buffer], buffers[other])) others.push_back(other);
  }
  return others;
}

}  // namespace reprise::viewer
