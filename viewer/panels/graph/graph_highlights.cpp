#include "panels/graph/graph_highlights.hpp"

namespace reprise::viewer {

namespace {

class Marker {
 public:
  Marker(const GraphScene& scene, GraphHighlights& marks)
      : scene_(scene), graph_(scene.graph()), marks_(marks) {}

  void mark(const model::Selection& what, std::uint8_t bit) {
    bit_ = bit;
    if (const auto* s = of_this<model::SelectedNode>(what)) {
      if (s->node >= graph_.node_count()) return;
      node(s->node);
      for (const model::Neighbour n : graph_.predecessors(s->node)) edge(n.edge);
      for (const model::Neighbour n : graph_.successors(s->node)) edge(n.edge);
    } else if (const auto* b = of_this<model::SelectedBuffer>(what)) {
      if (b->buffer >= graph_.record().buffers.size()) return;
      for (const model::BufferUse use : graph_.uses(b->buffer)) node(use.node);
    } else if (const auto* e = of_this<model::SelectedEdge>(what)) {
      if (e->edge < graph_.record().edges.size()) edge_with_ends(e->edge);
    } else if (const auto* barrier = of_this<model::SelectedBarrier>(what)) {
      for (std::uint32_t i = 0; i < graph_.record().edges.size(); ++i) {
        if (graph_.record().edges[i].barrier == barrier->barrier) edge_with_ends(i);
      }
    }
  }
  void mark(const model::CriticalPath& path) {
    bit_ = GraphMark::kCritical;
    for (const model::PathStep& step : path.steps) {
      if (step.node < graph_.node_count()) node(step.node);
      if (step.edge < graph_.record().edges.size()) edge(step.edge);
    }
  }

 private:
  template <class T>
  const T* of_this(const model::Selection& what) const {
    const T* s = std::get_if<T>(&what);
    return s != nullptr && s->graph == graph_.key() ? s : nullptr;
  }
  void node(std::uint32_t n) { marks_.boxes[scene_.box_of[n]] |= bit_; }
  void edge(std::uint32_t e) {
    if (scene_.link_of[e] != trace::kNone) marks_.links[scene_.link_of[e]] |= bit_;
  }
  void edge_with_ends(std::uint32_t e) {
    edge(e);
    node(graph_.record().edges[e].from);
    node(graph_.record().edges[e].to);
  }

  const GraphScene& scene_;
  const model::Graph& graph_;
  GraphHighlights& marks_;
  std::uint8_t bit_ = 0;
};

}  // namespace

GraphHighlights graph_marks(const GraphScene& scene, const PanelContext& context,
                            std::uint32_t causes) {
  GraphHighlights marks{std::vector<std::uint8_t>(scene.boxes.size(), 0),
                        std::vector<std::uint8_t>(scene.links.size(), 0)};
  Marker marker(scene, marks);
  marker.mark(context.view.selection, GraphMark::kSelected);
  marker.mark(context.view.hovered, GraphMark::kHovered);
  if (context.view.critical_path && context.view_model != nullptr &&
      context.view_model->samples > 0)
    marker.mark(context.view_model->path);
  if (!context.matches.empty()) {
    for (std::uint32_t b = 0; b < scene.boxes.size(); ++b) {
      bool passes = false;
      for (const std::uint32_t node : scene.members_of(b)) passes = passes || context.passes(node);
      if (!passes) marks.boxes[b] |= GraphMark::kFaded;
    }
  }
  for (std::uint32_t l = 0; l < scene.links.size(); ++l) {
    const GraphLink& link = scene.links[l];
    if ((link.causes & (causes | kRunsBit)) == 0) marks.links[l] |= GraphMark::kHidden;
    if (((marks.boxes[link.from] | marks.boxes[link.to]) & GraphMark::kFaded) != 0)
      marks.links[l] |= GraphMark::kFaded;
  }
  return marks;
}

double node_heat(const PanelContext& context, std::uint32_t node) {
  if (context.view_model == nullptr || node >= context.view_model->nodes.size()) return 0;
  const GraphViewModel::Node& view_model = context.view_model->nodes[node];
  switch (context.view.colour_by) {
    case ColourBy::P99: return view_model.p99;
    case ColourBy::Slack: return view_model.count == 0 ? -1e300 : -view_model.slack;
    case ColourBy::Median:
    case ColourBy::Share:
    case ColourBy::Kind:
    case ColourBy::Label:
    case ColourBy::Lane: break;
  }
  return view_model.median;
}

GraphBoxTime box_time(const GraphScene& scene, const PanelContext& context, std::uint32_t box) {
  GraphBoxTime time;
  const auto members = scene.members_of(box);
  time.hottest = members.front();
  double most = node_heat(context, time.hottest);
  for (const std::uint32_t node : members) {
    if (context.view_model == nullptr || node >= context.view_model->nodes.size()) break;
    const GraphViewModel::Node& view_model = context.view_model->nodes[node];
    time.median += view_model.median;
    time.share += view_model.share;
    time.measured = time.measured || view_model.count > 0;
    const double heat = node_heat(context, node);
    if (heat > most) {
      most = heat;
      time.hottest = node;
    }
  }
  return time;
}

}  // namespace reprise::viewer
