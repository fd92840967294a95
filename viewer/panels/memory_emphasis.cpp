#include "panels/memory_emphasis.hpp"

#include <algorithm>

namespace reprise::viewer {

using trace::kNone;

namespace {

std::uint32_t buffer_of(const model::Selection& what, const MemoryFacts& facts) {
  const auto* b = std::get_if<model::SelectedBuffer>(&what);
  const bool is_here = b && b->graph == facts.graph->key() && b->buffer < facts.span.size() && facts.span[b->buffer] != kNone;
  return is_here ? b->buffer : kNone;
}

std::uint32_t node_of(const model::Selection& what, const MemoryFacts& facts) {
  const auto* n = std::get_if<model::SelectedNode>(&what);
  return n && n->graph == facts.graph->key() && n->node < facts.graph->node_count() ? n->node : kNone;
}

bool holds(const std::vector<std::uint32_t>& sorted, std::uint32_t value) { return std::binary_search(sorted.begin(), sorted.end(), value); }

}  // namespace

MemoryEmphasis::MemoryEmphasis(const ViewState& view, const MemoryFacts& facts, const std::vector<std::uint8_t>& matches)
    : matches_(matches),
      buffer_(buffer_of(view.selection, facts)),
      node_(node_of(view.selection, facts)),
      hovered_buffer_(buffer_of(view.hovered, facts)),
      hovered_node_(node_of(view.hovered, facts)) {
  if (buffer_ != kNone) {
    selected_ = {buffer_};
    sharing_ = shares_bytes_with(facts, buffer_);
  } else if (node_ != kNone) {
    for (const trace::NodeAccess& a : facts.graph->accesses(node_)) selected_.push_back(a.buffer);
    std::sort(selected_.begin(), selected_.end());
    selected_.erase(std::unique(selected_.begin(), selected_.end()), selected_.end());
  }
}

Emphasis MemoryEmphasis::of(std::uint32_t buffer) const {
  if (holds(selected_, buffer)) return Emphasis::Selected;
  if (buffer < matches_.size() && matches_[buffer] == 0) return Emphasis::Filtered;
  if (holds(sharing_, buffer)) return Emphasis::Shares;
  return buffer_ != kNone || node_ != kNone ? Emphasis::Beside : Emphasis::Plain;
}

}  // namespace reprise::viewer
