#include "panels/timeline/timeline_nodes.hpp"

#include <algorithm>
#include <cmath>

#include "panels/timeline/timeline_collectives.hpp"
#include "panels/timeline/timeline_density.hpp"
#include "panels/timeline/timeline_host_rows.hpp"
#include "panels/widgets/format.hpp"
#include "panels/widgets/widgets.hpp"

namespace reprise::viewer {

namespace {

constexpr std::size_t kMaxBlockItems = 4096;  // items of a block among which the longest is found
constexpr float kMinStepWidth = 5;            // points between steps of a drawn critical path
constexpr std::size_t kMaxColumnItems = 32;   // items of a pixel column that determine its colour

bool is_selected(const model::Selection& selection, const model::Graph& graph, std::uint32_t node) {
  return !std::holds_alternative<std::monostate>(selection) &&
         model::selects_node(selection, graph, node);
}

// The representative of a block: a selected node, otherwise the longest node.
const model::TimelineItem& item_of_block(const TimelineDrawContext& dc, const model::Graph& graph,
                                         std::span<const model::TimelineItem> items,
                                         const TimelineBlock& block) {
  const model::TimelineItem* longest = &items[block.first];
  for (std::size_t i = block.first; i < std::min(block.end, block.first + kMaxBlockItems); ++i) {
    if (is_selected(dc.context.view.selection, graph, items[i].node)) return items[i];
    if (items[i].ended - items[i].started > longest->ended - longest->started) longest = &items[i];
  }
  return *longest;
}

class NodePainter {
 public:
  NodePainter(TimelineDrawContext& dc, const TimelineScene& scene, const model::Graph& graph)
      : dc_(dc),
        scene_(scene),
        context_(dc.context),
        graph_(graph),
        is_of_graph_(graph.key() == dc.context.view.graph),
        is_match_(is_of_graph_ || (!dc.arrivals.empty() && is_like_shown(dc.context, graph.key()))),
        list_(*ImGui::GetWindowDrawList()) {
    if (is_of_graph_ && shows_critical_path(context_) &&
        context_.replay->replay.replay == scene.replay.replay) {
      critical_.assign(graph_.node_count(), 0);
      for (const model::PathStep& step : context_.replay->path.steps) critical_[step.node] = 1;
    }
  }

  void draw(std::size_t row) {
    const model::TimelineRow& of = scene_.rows.rows[row];
    const TimelineRow* const layout_row =
        dc_.layout.find(TimelineRow::Kind::Nodes, of.group, of.level, graph_.key());
    if (layout_row == nullptr || !dc_.is_visible(*layout_row)) return;
    const std::span<const model::TimelineItem> items = scene_.items(row);
    const CanvasBounds bounds = dc_.canvas.visible_area();
    const auto first = std::partition_point(items.begin(), items.end(), [&](const auto& i) {
      return dc_.plane_of(i.ended) < bounds.left;
    });
    const auto last = std::partition_point(
        first, items.end(), [&](const auto& i) { return dc_.plane_of(i.started) <= bounds.right; });
    const auto blocks = merged_blocks(
        static_cast<std::size_t>(first - items.begin()),
        static_cast<std::size_t>(last - items.begin()), 1 / dc_.canvas.zoom_x(),
        [&](std::size_t i) {
          return TimelineExtent{dc_.plane_of(items[i].started), dc_.plane_of(items[i].ended)};
        });
    for (const TimelineBlock& block : blocks) {
      if (block.count() == 1) {
        draw(*layout_row, items[block.first]);
      } else {
        draw_block(*layout_row, row, items, block);
      }
    }
  }

 private:
  // Each column has the colour of its longest node.
  void draw_block(const TimelineRow& row, std::size_t index,
                  std::span<const model::TimelineItem> items, const TimelineBlock& block) {
    const TimelineBox box = box_of(dc_, row, block.started, block.ended);
    const TimelineSpan span{items[block.first].started, items[block.end - 1].ended};
    const model::BusyTime& busy = scene_.row_busy[index];
    const auto within = items.subspan(block.first, block.count());
    model::BusyTime::Reader reader(busy);
    draw_density(dc_, box, [&](trace::Time from, trace::Time to) {
      DensityColumn column;
      column.parts[0] = {busy_share(reader, span, from, to), 0};
      const auto first = std::partition_point(within.begin(), within.end(),
                                              [&](const auto& i) { return i.ended <= from; });
      const auto inside = within.subspan(static_cast<std::size_t>(first - within.begin()));
      const model::TimelineItem* longest = nullptr;
      bool passes = false;
      for (const auto& item : inside.first(std::min(inside.size(), kMaxColumnItems))) {
        if (item.started >= to) break;
        if (longest == nullptr || item.ended - item.started > longest->ended - longest->started)
          longest = &item;
        passes = passes || passes_filter(item.node);
        if (is_critical(item.node)) column.mark = context_.theme.critical;
      }
      if (longest != nullptr)
        column.parts[0].colour = with_alpha(fill_of(longest->node), passes ? 1 : 0.16f);
      return column;
    });
    const model::TimelineItem& item = item_of_block(dc_, graph_, items, block);
    if (is_selected(context_.view.selection, graph_, item.node)) {
      const TimelineBox one =
          box_of(dc_, row, dc_.plane_of(item.started), dc_.plane_of(item.ended));
      draw_selection(one, one.max);
    }
    if (!is_below_mouse(dc_, box)) return;
    BlockHit hit{"nodes", block.count(), span, column_below_mouse(dc_)};
    hit.busy = busy.between(span.started, span.ended);
    hit.busy_here = busy.between(hit.here.started, hit.here.ended);
    dc_.hit = NodeHit{&scene_, &item, std::move(hit)};
  }

  void draw(const TimelineRow& row, const model::TimelineItem& item) {
    const Theme& theme = context_.theme;
    const TimelineBox box = box_of(dc_, row, dc_.plane_of(item.started), dc_.plane_of(item.ended));
    const bool hovered = is_below_mouse(dc_, box), passes = passes_filter(item.node);
    const bool selected = is_selected(context_.view.selection, graph_, item.node);
    const bool linked = hovered || is_selected(context_.view.hovered, graph_, item.node);
    const float gap = box.width() > 5 ? 1.0f : 0.0f, round = box.width() > 8 ? 2 * theme.scale : 0;
    const ImVec2 max{box.max.x - gap, box.max.y};
    const ImU32 fill = with_alpha(fill_of(item.node), passes ? 1 : 0.16f);
    list_.AddRectFilled(box.min, max, fill, round);
    if (linked && !selected) list_.AddRectFilled(box.min, max, with_alpha(theme.ink, 0.22f), round);
    if (is_critical(item.node))
      list_.AddRectFilled({box.min.x, box.min.y}, {max.x, box.min.y + 3 * theme.scale},
                          theme.critical, round);
    if (selected) draw_selection(box, max);
    TimelineBox text_box = box;
    if (const TimelineCollective one = collective_of(dc_, scene_, item); one.call != nullptr)
      text_box = draw_timeline_collective(dc_, {box.min, max}, one, fill);
    if (box.width() >= 20 && box.max.y - box.min.y >= theme.small->FontSize)
      draw_text_in(dc_, text_box, graph_.node_name(item.node),
                   passes ? ink_on(fill) : theme.ink_faint);
    if (hovered) dc_.hit = NodeHit{&scene_, &item};
  }

  [[nodiscard]] ImU32 fill_of(std::uint32_t node) const {
    return is_match_ ? node_colour(context_, node) : graph_colour(dc_, graph_.key());
  }
  [[nodiscard]] bool passes_filter(std::uint32_t node) const {
    return !is_match_ || context_.passes(node);
  }
  [[nodiscard]] bool is_critical(std::uint32_t node) const {
    return !critical_.empty() && critical_[node] != 0;
  }

  // The arrow above the frame makes a narrow box visible.
  void draw_selection(const TimelineBox& box, ImVec2 max) {
    const Theme& theme = context_.theme;
    const float out = 2 * theme.scale, size = 5 * theme.scale, middle = (box.min.x + max.x) / 2;
    list_.AddRect(box.min, max, theme.panel, 0, 0, theme.scale);
    list_.AddRect({box.min.x - out, box.min.y - out}, {max.x + out, max.y + out}, theme.accent,
                  theme.radius / 2, 0, 2 * theme.scale);
    list_.AddTriangleFilled({middle - size, box.min.y - out - size},
                            {middle + size, box.min.y - out - size}, {middle, box.min.y - out},
                            theme.accent);
  }

  TimelineDrawContext& dc_;
  const TimelineScene& scene_;
  PanelContext& context_;
  const model::Graph& graph_;
  bool is_of_graph_;  // the shown graph
  bool is_match_;     // that, or the same graph of another rank; others have one colour each
  ImDrawList& list_;
  std::vector<std::uint8_t> critical_;  // per node; empty: the path is not shown
};

// Row of a node's item and the screen y of its centre; null: the node has no item.
struct NodePosition {
  const TimelineRow* row = nullptr;
  float y = 0;
};

NodePosition position_of(const TimelineDrawContext& dc, const TimelineScene& scene,
                         std::uint32_t node) {
  const std::uint32_t item = node < scene.items_of.size() ? scene.items_of[node] : trace::kNone;
  if (item == trace::kNone) return {};
  const model::TimelineRow& of = scene.rows.rows[scene.rows.items[item].row];
  const TimelineRow* const row =
      dc.layout.find(TimelineRow::Kind::Nodes, of.group, of.level, dc.context.view.graph);
  return {row, row == nullptr ? 0 : dc.top + row->top + row->height / 2};
}

// Link from the end of one node to the start of another.
void draw_link(const TimelineDrawContext& dc, const TimelineScene& scene, std::uint32_t from,
               std::uint32_t to, ImU32 colour, float thickness) {
  const NodePosition a = position_of(dc, scene, from), b = position_of(dc, scene, to);
  if (a.row == nullptr || b.row == nullptr) return;
  const float left = dc.canvas.min().x - 40, right = dc.canvas.max().x + 40;
  const float x0 = std::clamp(dc.x_of(scene.times.nodes[from].ended), left, right),
              x1 = std::clamp(dc.x_of(scene.times.nodes[to].started), left, right);
  if ((x0 == left && x1 == left) || (x0 == right && x1 == right)) return;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  if (a.row == b.row) return list.AddLine({x0, a.y}, {x1, b.y}, colour, thickness);
  const float bend = std::max(std::abs(x1 - x0) * 0.5f, 10 * dc.context.theme.scale);
  list.AddBezierCubic({x0, a.y}, {x0 + bend, a.y}, {x1 - bend, b.y}, {x1, b.y}, colour, thickness,
                      12);
}

}  // namespace

bool is_all_critical(const PanelContext& context) {
  return context.replay != nullptr && context.graph() != nullptr &&
         context.replay->path.steps.size() >= context.graph()->node_count();
}

bool shows_critical_path(const PanelContext& context) {
  return context.view.critical_path && context.replay != nullptr && context.graph() != nullptr &&
         !is_all_critical(context);
}

void draw_timeline_active(TimelineDrawContext& dc, const TimelineScene& scene, std::uint32_t max) {
  const TimelineRow* const row =
      dc.layout.find(TimelineRow::Kind::Active, 0, 0, {scene.replay.graph, scene.replay.version});
  if (row == nullptr || !dc.is_visible(*row) || max == 0) return;
  const TimelineSpan span{scene.times.started, scene.times.ended};
  const TimelineBox box = box_of(dc, *row, dc.plane_of(span.started), dc.plane_of(span.ended));
  const ImU32 fill = muted(dc.context.theme, dc.context.theme.good, 0.8f);
  model::BusyTime::Reader reader(scene.active);
  draw_density(dc, box, [&](trace::Time from, trace::Time to) {
    return DensityColumn{{{{busy_share(reader, span, from, to) / max, fill}, {}, {}}}};
  });
  if (is_below_mouse(dc, box)) dc.hit = ActiveHit{&scene, column_below_mouse(dc)};
}

void draw_timeline_nodes(TimelineDrawContext& dc, const TimelineScene& scene) {
  const model::Graph* const graph = graph_of(dc, scene);
  if (graph == nullptr) return;
  NodePainter nodes(dc, scene, *graph);
  for (std::size_t row = 0; row < scene.rows.rows.size(); ++row) nodes.draw(row);
}

void draw_timeline_path(const TimelineDrawContext& dc, const TimelineScene& scene,
                        const model::CriticalPath& path) {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const Theme& theme = dc.context.theme;
  const ImU32 colour = with_alpha(theme.critical, 0.9f);
  const float thickness = 1.5f * theme.scale, half = thickness / 2, left = dc.canvas.min().x - 40,
              right = dc.canvas.max().x + 40;
  // Lines this close would hide the rows, whose top edge marks the nodes of the path anyway.
  std::size_t visible = 0;
  for (const model::PathStep& step : path.steps) {
    const float x = dc.x_of(scene.times.nodes[step.node].started);
    visible += x >= left && x <= right ? 1 : 0;
  }
  if (static_cast<float>(visible) * kMinStepWidth * theme.scale > right - left) return;
  float last = -1e9f;
  for (std::size_t i = 1; i < path.steps.size(); ++i) {
    const std::uint32_t from = path.steps[i - 1].node, to = path.steps[i].node;
    const NodePosition a = position_of(dc, scene, from), b = position_of(dc, scene, to);
    if (a.row == nullptr || b.row == nullptr) continue;
    const float x0 = std::clamp(dc.x_of(scene.times.nodes[from].ended), left, right),
                x1 = std::clamp(dc.x_of(scene.times.nodes[to].started), left, right);
    // Coinciding steps are drawn once.
    if (std::abs(x1 - last) < 1.5f || (x0 == left && x1 == left) || (x0 == right && x1 == right))
      continue;
    last = x1;
    // Vertical at the end of the first node, then along the top of the second node's row, dashed
    // while no node of the path runs.
    const float top_a = dc.top + a.row->top + half, top_b = dc.top + b.row->top + half;
    if (top_a != top_b) list.AddLine({x0, top_a}, {x0, top_b}, colour, thickness);
    const float start = std::max(std::min(x0, x1), dc.canvas.min().x),
                end = std::min(std::max(x0, x1), dc.canvas.max().x);
    if (end - start < 12 * theme.scale) {
      list.AddLine({start, top_b}, {end, top_b}, colour, thickness);
    } else {
      for (float x = start; x < end; x += 9 * theme.scale)
        list.AddLine({x, top_b}, {std::min(x + 5 * theme.scale, end), top_b}, colour, thickness);
    }
  }
}

void draw_timeline_links(const TimelineDrawContext& dc, const TimelineScene& scene) {
  const auto* const selected = std::get_if<model::SelectedNode>(&dc.context.view.selection);
  const model::Graph& graph = *dc.context.graph();
  if (selected == nullptr || selected->graph != graph.key() || selected->node >= graph.node_count())
    return;
  constexpr std::size_t kMaxLinks = 200;
  const Theme& theme = dc.context.theme;
  const auto colour = [&](std::uint32_t edge) {
    return cause_colour(theme, graph.record().edges[edge].cause);
  };
  const auto before = graph.predecessors(selected->node), after = graph.successors(selected->node);
  for (const model::Neighbour& n : before.first(std::min(before.size(), kMaxLinks))) {
    draw_link(dc, scene, n.node, selected->node, colour(n.edge), 2 * theme.scale);
  }
  for (const model::Neighbour& n : after.first(std::min(after.size(), kMaxLinks))) {
    draw_link(dc, scene, selected->node, n.node, with_alpha(colour(n.edge), 0.7f),
              1.2f * theme.scale);
  }
}

}  // namespace reprise::viewer
