#include "panels/memory/memory_emphasis.hpp"

#include <algorithm>

namespace reprise::viewer {

using trace::kNone;

namespace {

std::uint32_t buffer_of(const model::Selection& selection, const MemoryViewModel& view_model) {
  const auto* b = std::get_if<model::SelectedBuffer>(&selection);
  const bool is_valid = b && b->graph == view_model.graph->key() &&
                        b->buffer < view_model.span.size() && view_model.span[b->buffer] != kNone;
  return is_valid ? b->buffer : kNone;
}

std::uint32_t node_of(const model::Selection& selection, const MemoryViewModel& view_model) {
  const auto* n = std::get_if<model::SelectedNode>(&selection);
  return n && n->graph == view_model.graph->key() && n->node < view_model.graph->node_count()
             ? n->node
             : kNone;
}

bool contains_sorted(const std::vector<std::uint32_t>& sorted, std::uint32_t value) {
  return std::binary_search(sorted.begin(), sorted.end(), value);
}

}  // namespace

MemoryEmphasis::MemoryEmphasis(const ViewState& view, const MemoryViewModel& view_model,
                               const std::vector<std::uint8_t>& matches)
    : matches_(matches),
      buffer_(buffer_of(view.selection, view_model)),
      node_(node_of(view.selection, view_model)),
      hovered_buffer_(buffer_of(view.hovered, view_model)),
      hovered_node_(node_of(view.hovered, view_model)) {
  if (buffer_ != kNone) {
    selected_ = {buffer_};
    aliasing_ = aliasing_buffers(view_model, buffer_);
  } else if (node_ != kNone) {
    for (const trace::NodeAccess& a : view_model.graph->accesses(node_))
      selected_.push_back(a.buffer);
    std::sort(selected_.begin(), selected_.end());
    selected_.erase(std::unique(selected_.begin(), selected_.end()), selected_.end());
  }
}

Emphasis MemoryEmphasis::of(std::uint32_t buffer) const {
  if (contains_sorted(selected_, buffer)) return Emphasis::Selected;
  if (buffer < matches_.size() && matches_[buffer] == 0) return Emphasis::Filtered;
  if (contains_sorted(aliasing_, buffer)) return Emphasis::Aliasing;
  return buffer_ != kNone || node_ != kNone ? Emphasis::Dimmed : Emphasis::Plain;
}

}  // namespace reprise::viewer
