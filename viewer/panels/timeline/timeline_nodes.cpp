#include "panels/timeline/timeline_nodes.hpp"

#include <algorithm>
#include <cmath>

#include "panels/widgets/format.hpp"
#include "panels/widgets/widgets.hpp"

namespace reprise::viewer {

namespace {

constexpr std::size_t kMostLookedAt = 4096;  // items of a block, for its colour

bool is_selected(const model::Selection& selection, const model::Graph& graph, std::uint32_t node) {
  return !std::holds_alternative<std::monostate>(selection) &&
         model::selects_node(selection, graph, node);
}

// What stands for a block: a selected node, or the longest.
const model::TimelineItem& item_of_block(const TimelineDrawContext& sight,
                                         std::span<const model::TimelineItem> items,
                                         const TimelineBlock& block) {
  const model::TimelineItem* most = &items[block.first];
  for (std::size_t i = block.first; i < std::min(block.end, block.first + kMostLookedAt); ++i) {
    if (is_selected(sight.context.view.selection, *sight.context.graph(), items[i].node))
      return items[i];
    if (items[i].ended - items[i].started > most->ended - most->started) most = &items[i];
  }
  return *most;
}

class Nodes {
 public:
  Nodes(TimelineDrawContext& sight, const TimelineScene& scene)
      : sight_(sight),
        scene_(scene),
        frame_(sight.context),
        graph_(*sight.context.graph()),
        list_(*ImGui::GetWindowDrawList()) {
    if (frame_.view.critical_path && frame_.replay != nullptr &&
        frame_.replay->replay.replay == scene.replay.replay) {
      critical_.assign(graph_.node_count(), 0);
      for (const model::PathStep& step : frame_.replay->path.steps) critical_[step.node] = 1;
    }
  }

  void draw(std::size_t row) {
    const model::TimelineRow& of = scene_.rows.rows[row];
    const TimelineRow* const place = sight_.layout.find(TimelineRow::Of::Nodes, of.group, of.level);
    if (place == nullptr || !sight_.is_in_sight(*place)) return;
    const std::span<const model::TimelineItem> items = scene_.items(row);
    const CanvasBounds bounds = sight_.canvas.in_sight();
    const auto first = std::partition_point(items.begin(), items.end(), [&](const auto& i) {
      return sight_.plane_of(i.ended) < bounds.left;
    });
    const auto last = std::partition_point(first, items.end(), [&](const auto& i) {
      return sight_.plane_of(i.started) <= bounds.right;
    });
    const auto blocks = merged_blocks(
        static_cast<std::size_t>(first - items.begin()),
        static_cast<std::size_t>(last - items.begin()), 1 / sight_.canvas.zoom_x(),
        [&](std::size_t i) {
          return TimelineExtent{sight_.plane_of(items[i].started), sight_.plane_of(items[i].ended)};
        });
    for (const TimelineBlock& block : blocks) draw(*place, items, block);
  }

 private:
  void draw(const TimelineRow& row, std::span<const model::TimelineItem> items,
            const TimelineBlock& block) {
    const Theme& theme = frame_.theme;
    const TimelineBox box = box_of(sight_, row, block.began, block.ended);
    const model::TimelineItem& item = item_of_block(sight_, items, block);
    const bool is_one = block.count() == 1, hovered = is_below_mouse(sight_, box);
    bool passes = false, critical = false;
    for (std::size_t i = block.first;
         i < std::min(block.end, block.first + kMostLookedAt) && !(passes && critical); ++i) {
      passes = passes || frame_.passes(items[i].node);
      critical = critical || (!critical_.empty() && critical_[items[i].node] != 0);
    }
    const bool selected = is_selected(frame_.view.selection, graph_, item.node);
    const bool linked = hovered || is_selected(frame_.view.hovered, graph_, item.node);
    const float gap = box.width() > 5 ? 1.0f : 0.0f, round = box.width() > 8 ? 2 * theme.scale : 0;
    const ImVec2 max{box.max.x - gap, box.max.y};
    ImU32 fill = node_colour(frame_, item.node);
    if (!passes) fill = with_alpha(fill, 0.16f);
    list_.AddRectFilled(box.min, max, fill, round);
    if (linked && !selected) list_.AddRectFilled(box.min, max, with_alpha(theme.ink, 0.22f), round);
    if (!is_one) {  // several: lines say so
      const float y = box.max.y - 3 * theme.scale;
      for (float x = box.min.x + 2; x < max.x - 1; x += 4)
        list_.AddLine({x, y}, {x, box.max.y - 1}, with_alpha(ink_on(fill), 0.55f));
    }
    if (critical)
      list_.AddRectFilled({box.min.x, box.min.y}, {max.x, box.min.y + 3 * theme.scale},
                          theme.critical, round);
    if (selected) mark(box, max);
    const std::string text = box.width() < 20 ? std::string()
                             : is_one         ? graph_.node_name(item.node)
                                              : count_text(block.count()) + " nodes";
    draw_text_in(sight_, box, text, passes ? ink_on(fill) : theme.ink_faint);
    if (hovered) sight_.hit = NodeHit{&scene_, &item, block.count()};
  }

  // A narrow one is found by the arrow above it.
  void mark(const TimelineBox& box, ImVec2 max) {
    const Theme& theme = frame_.theme;
    const float out = 2 * theme.scale, size = 5 * theme.scale, middle = (box.min.x + max.x) / 2;
    list_.AddRect(box.min, max, theme.panel, 0, 0, theme.scale);
    list_.AddRect({box.min.x - out, box.min.y - out}, {max.x + out, max.y + out}, theme.accent,
                  theme.radius / 2, 0, 2 * theme.scale);
    list_.AddTriangleFilled({middle - size, box.min.y - out - size},
                            {middle + size, box.min.y - out - size}, {middle, box.min.y - out},
                            theme.accent);
  }

  TimelineDrawContext& sight_;
  const TimelineScene& scene_;
  PanelContext& frame_;
  const model::Graph& graph_;
  ImDrawList& list_;
  std::vector<std::uint8_t> critical_;  // a node each; empty: none is marked
};

// Where the item of a node is: the y of its middle, and its row.
struct Place {
  const TimelineRow* row = nullptr;
  float y = 0;
};

Place place_of(const TimelineDrawContext& sight, const TimelineScene& scene, std::uint32_t node) {
  const std::uint32_t item = node < scene.items_of.size() ? scene.items_of[node] : trace::kNone;
  if (item == trace::kNone) return {};
  const model::TimelineRow& of = scene.rows.rows[scene.rows.items[item].row];
  const TimelineRow* const row = sight.layout.find(TimelineRow::Of::Nodes, of.group, of.level);
  return {row, row == nullptr ? 0 : sight.top + row->top + row->height / 2};
}

// From the end of one node to the start of another.
void draw_link(const TimelineDrawContext& sight, const TimelineScene& scene, std::uint32_t from,
               std::uint32_t to, ImU32 colour, float thick) {
  const Place a = place_of(sight, scene, from), b = place_of(sight, scene, to);
  if (a.row == nullptr || b.row == nullptr) return;
  const float left = sight.canvas.min().x - 40, right = sight.canvas.max().x + 40;
  const float x0 = std::clamp(sight.x_of(scene.times.nodes[from].ended), left, right),
              x1 = std::clamp(sight.x_of(scene.times.nodes[to].started), left, right);
  if ((x0 == left && x1 == left) || (x0 == right && x1 == right)) return;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  if (a.row == b.row) return list.AddLine({x0, a.y}, {x1, b.y}, colour, thick);
  const float bend = std::max(std::abs(x1 - x0) * 0.5f, 10 * sight.context.theme.scale);
  list.AddBezierCubic({x0, a.y}, {x0 + bend, a.y}, {x1 - bend, b.y}, {x1, b.y}, colour, thick, 12);
}

}  // namespace

void draw_timeline_nodes(TimelineDrawContext& sight, const TimelineScene& scene) {
  Nodes nodes(sight, scene);
  for (std::size_t row = 0; row < scene.rows.rows.size(); ++row) nodes.draw(row);
}

void draw_timeline_path(const TimelineDrawContext& sight, const TimelineScene& scene,
                        const model::CriticalPath& path) {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const Theme& theme = sight.context.theme;
  const ImU32 colour = with_alpha(theme.critical, 0.9f);
  const float thick = 1.5f * theme.scale, half = thick / 2, left = sight.canvas.min().x - 40,
              right = sight.canvas.max().x + 40;
  float last = -1e9f;
  for (std::size_t i = 1; i < path.steps.size(); ++i) {
    const std::uint32_t from = path.steps[i - 1].node, to = path.steps[i].node;
    const Place a = place_of(sight, scene, from), b = place_of(sight, scene, to);
    if (a.row == nullptr || b.row == nullptr) continue;
    const float x0 = std::clamp(sight.x_of(scene.times.nodes[from].ended), left, right),
                x1 = std::clamp(sight.x_of(scene.times.nodes[to].started), left, right);
    // Steps that would be drawn on top of each other are drawn once.
    if (std::abs(x1 - last) < 1.5f || (x0 == left && x1 == left) || (x0 == right && x1 == right))
      continue;
    last = x1;
    // Down or up where the first ends, then along the top of the other's row, in dashes as long as
    // nothing of the path runs.
    const float top_a = sight.top + a.row->top + half, top_b = sight.top + b.row->top + half;
    if (top_a != top_b) list.AddLine({x0, top_a}, {x0, top_b}, colour, thick);
    const float begin = std::max(std::min(x0, x1), sight.canvas.min().x),
                end = std::min(std::max(x0, x1), sight.canvas.max().x);
    if (end - begin < 12 * theme.scale) {
      list.AddLine({begin, top_b}, {end, top_b}, colour, thick);
    } else {
      for (float x = begin; x < end; x += 9 * theme.scale)
        list.AddLine({x, top_b}, {std::min(x + 5 * theme.scale, end), top_b}, colour, thick);
    }
  }
}

void draw_timeline_links(const TimelineDrawContext& sight, const TimelineScene& scene) {
  const auto* const selected = std::get_if<model::SelectedNode>(&sight.context.view.selection);
  const model::Graph& graph = *sight.context.graph();
  if (selected == nullptr || selected->graph != graph.key() || selected->node >= graph.node_count())
    return;
  constexpr std::size_t kMost = 200;
  const Theme& theme = sight.context.theme;
  const auto colour = [&](std::uint32_t edge) {
    return cause_colour(theme, graph.record().edges[edge].cause);
  };
  const auto before = graph.predecessors(selected->node), after = graph.successors(selected->node);
  for (const model::Neighbour& n : before.first(std::min(before.size(), kMost))) {
    draw_link(sight, scene, n.node, selected->node, colour(n.edge), 2 * theme.scale);
  }
  for (const model::Neighbour& n : after.first(std::min(after.size(), kMost))) {
    draw_link(sight, scene, selected->node, n.node, with_alpha(colour(n.edge), 0.7f),
              1.2f * theme.scale);
  }
}

}  // namespace reprise::viewer
