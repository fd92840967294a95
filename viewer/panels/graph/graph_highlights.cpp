#include "panels/graph/graph_highlights.hpp"

#include <algorithm>

namespace reprise::viewer {

namespace {

constexpr std::size_t kMinOthers = 50;  // the critical path omits one box of this many, at least

class Highlighter {
 public:
  Highlighter(const GraphScene& scene, GraphHighlights& highlights)
      : scene_(scene), graph_(scene.graph()), highlights_(highlights) {}

  void mark(const model::Selection& selection, std::uint8_t bit) {
    bit_ = bit;
    if (const auto* s = selected<model::SelectedNode>(selection)) {
      if (s->node >= graph_.node_count()) return;
      node(s->node);
      for (const model::Neighbour n : graph_.predecessors(s->node)) edge(n.edge);
      for (const model::Neighbour n : graph_.successors(s->node)) edge(n.edge);
    } else if (const auto* b = selected<model::SelectedBuffer>(selection)) {
      if (b->buffer >= graph_.record().buffers.size()) return;
      for (const model::BufferUse use : graph_.uses(b->buffer)) node(use.node);
    } else if (const auto* e = selected<model::SelectedEdge>(selection)) {
      if (e->edge < graph_.record().edges.size()) edge_with_ends(e->edge);
    } else if (const auto* barrier = selected<model::SelectedBarrier>(selection)) {
      for (std::uint32_t i = 0; i < graph_.record().edges.size(); ++i) {
        if (graph_.record().edges[i].barrier == barrier->barrier) edge_with_ends(i);
      }
    }
  }
  void mark(const model::CriticalPath& path) {
    bit_ = HighlightBit::kCritical;
    for (const model::PathStep& step : path.steps) {
      if (step.node < graph_.node_count()) node(step.node);
      if (step.edge < graph_.record().edges.size()) edge(step.edge);
    }
    if (path_distinguishes()) return;
    for (std::vector<std::uint8_t>* marks : {&highlights_.boxes, &highlights_.links}) {
      for (std::uint8_t& mark : *marks) mark = static_cast<std::uint8_t>(mark & ~bit_);
    }
  }

 private:
  // False if the path contains all boxes, or almost all of very many. Nodes of bodies are never on
  // it.
  [[nodiscard]] bool path_distinguishes() const {
    std::size_t others = 0;
    for (std::uint32_t b = 0; b < scene_.boxes.size(); ++b) {
      if (scene_.members_of(b).front() < graph_.own_node_count() &&
          (highlights_.boxes[b] & bit_) == 0)
        ++others;
    }
    return others * kMinOthers > scene_.boxes.size();
  }
  // The selected T if it belongs to this graph, null otherwise.
  template <class T>
  const T* selected(const model::Selection& selection) const {
    const T* s = std::get_if<T>(&selection);
    return s != nullptr && s->graph == graph_.key() ? s : nullptr;
  }
  void node(std::uint32_t n) { highlights_.boxes[scene_.box_of[n]] |= bit_; }
  void edge(std::uint32_t e) {
    if (scene_.link_of[e] != trace::kNone) highlights_.links[scene_.link_of[e]] |= bit_;
  }
  void edge_with_ends(std::uint32_t e) {
    edge(e);
    node(graph_.record().edges[e].from);
    node(graph_.record().edges[e].to);
  }

  const GraphScene& scene_;
  const model::Graph& graph_;
  GraphHighlights& highlights_;
  std::uint8_t bit_ = 0;
};

// Marks everything but the selection, its neighbours, hovered items and the critical path, if
// anything is selected.
void mark_unrelated(const GraphScene& scene, GraphHighlights& highlights) {
  const auto is_selected = [](std::uint8_t mark) { return (mark & HighlightBit::kSelected) != 0; };
  if (std::none_of(highlights.boxes.begin(), highlights.boxes.end(), is_selected)) return;
  std::vector<std::uint8_t> related(scene.boxes.size(), 0);
  for (std::uint32_t l = 0; l < scene.links.size(); ++l) {
    if (is_selected(highlights.links[l]))
      related[scene.links[l].from] = related[scene.links[l].to] = 1;
  }
  for (std::uint32_t b = 0; b < scene.boxes.size(); ++b) {
    if (related[b] == 0 && (highlights.boxes[b] & HighlightBit::kOnTop) == 0)
      highlights.boxes[b] |= HighlightBit::kUnrelated;
  }
  for (std::uint8_t& mark : highlights.links) {
    if ((mark & HighlightBit::kOnTop) == 0) mark |= HighlightBit::kUnrelated;
  }
}

}  // namespace

GraphHighlights make_graph_highlights(const GraphScene& scene, const PanelContext& context,
                                      std::uint32_t causes) {
  GraphHighlights highlights{std::vector<std::uint8_t>(scene.boxes.size(), 0),
                             std::vector<std::uint8_t>(scene.links.size(), 0)};
  Highlighter highlighter(scene, highlights);
  highlighter.mark(context.view.selection, HighlightBit::kSelected);
  highlighter.mark(context.view.hovered, HighlightBit::kHovered);
  if (context.view.critical_path && context.view_model != nullptr &&
      context.view_model->samples > 0)
    highlighter.mark(context.view_model->path);
  mark_unrelated(scene, highlights);
  if (!context.matches.empty()) {
    for (std::uint32_t b = 0; b < scene.boxes.size(); ++b) {
      bool passes = false;
      for (const std::uint32_t node : scene.members_of(b)) passes = passes || context.passes(node);
      if (!passes) highlights.boxes[b] |= HighlightBit::kFaded;
    }
  }
  for (std::uint32_t l = 0; l < scene.links.size(); ++l) {
    const GraphLink& link = scene.links[l];
    if ((link.causes & (causes | kRunsBit)) == 0) highlights.links[l] |= HighlightBit::kHidden;
    if (((highlights.boxes[link.from] | highlights.boxes[link.to]) & HighlightBit::kFaded) != 0)
      highlights.links[l] |= HighlightBit::kFaded;
  }
  return highlights;
}

double node_heat(const PanelContext& context, std::uint32_t node) {
  if (context.view_model == nullptr || node >= context.view_model->nodes.size()) return 0;
  const GraphViewModel::Node& stats = context.view_model->nodes[node];
  if (stats.runs_bodies) return -1e300;  // outside the colour scale
  switch (context.view.colour_by) {
    case ColourBy::P99: return stats.p99;
    case ColourBy::Slack: return stats.count == 0 ? -1e300 : -stats.slack;
    case ColourBy::Median:
    case ColourBy::Share:
    case ColourBy::Kind:
    case ColourBy::Label:
    case ColourBy::Lane: break;
  }
  return stats.median;
}

GraphBoxTime box_time(const GraphScene& scene, const PanelContext& context, std::uint32_t box) {
  GraphBoxTime time;
  const auto members = scene.members_of(box);
  time.hottest = members.front();
  double max_heat = node_heat(context, time.hottest);
  for (const std::uint32_t node : members) {
    if (context.view_model == nullptr || node >= context.view_model->nodes.size()) break;
    const GraphViewModel::Node& stats = context.view_model->nodes[node];
    // The time of a node includes that of the bodies it runs.
    const std::uint32_t parent = scene.graph().parent(node);
    if (parent == trace::kNone || scene.box_of[parent] != box) {
      time.median += stats.median;
      time.share += stats.share;
    }
    time.measured = time.measured || stats.count > 0;
    const double heat = node_heat(context, node);
    if (heat > max_heat) {
      max_heat = heat;
      time.hottest = node;
    }
  }
  return time;
}

}  // namespace reprise::viewer
