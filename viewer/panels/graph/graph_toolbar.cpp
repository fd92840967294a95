#include "panels/graph/graph_toolbar.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "panels/widgets/choice.hpp"
#include "panels/widgets/format.hpp"
#include "panels/widgets/toolbar.hpp"
#include "panels/widgets/widgets.hpp"

namespace reprise::viewer {

namespace {

void draw_times_choice(PanelContext& context, Toolbar& bar, GraphOptions& options) {
  if (context.replay == nullptr) return;
  const std::string replay = "replay " + count_text(context.replay->replay.replay);
  const std::array<ChoiceItem, 2> items = {
      ChoiceItem{context.view.has_range() ? "selected replays" : "all replays",
                 "Median, p99 and share over these replays."},
      ChoiceItem{replay, "Durations of this replay only."}};
  const float width = ImGui::CalcTextSize((items[0].text + items[1].text).c_str()).x +
                      4 * ImGui::GetStyle().FramePadding.x;
  if (!bar.place(width)) return;
  options.times = static_cast<GraphTimes>(
      draw_choice(context.theme, "times", items, static_cast<int>(options.times)));
}

void draw_collapse_toggle(PanelContext& context, Toolbar& bar, const GraphScene* scene,
                          GraphOptions& options) {
  const bool has_groups = scene != nullptr && scene->has_groups;
  if ((!has_groups && context.graph()->record().labels.size() < 2 &&
       context.graph()->node_count() <= kMaxBoxes) ||
      !bar.place(110 * context.theme.scale))
    return;
  if (draw_toggle(
          context.theme, "labels",
          {.text = has_groups ? "Expand all" : "Collapse labels",
           .explanation = has_groups ? "Draws every node."
                                     : "Collapses each outermost label into one box, and equal "
                                       "nodes where there are too many. Double-click a title to "
                                       "collapse one label.",
           .is_on = has_groups})) {
    if (has_groups) {
      expand_all(options);
    } else {
      collapse_all(*context.graph(), options);
    }
  }
}

void draw_counts(const PanelContext& context, Toolbar& bar,
                 const GraphToolbarViewModel& view_model) {
  const auto nodes = static_cast<std::uint64_t>(context.graph()->node_count());
  std::string text;
  ImU32 colour = context.theme.ink_soft;
  if (view_model.is_busy) {
    text = "laying out " + count_text(nodes) + " nodes...";
    colour = context.theme.accent;
  } else if (!context.matches.empty()) {
    text = count_text(static_cast<std::uint64_t>(
               std::count(context.matches.begin(), context.matches.end(), 1))) +
           " of " + count_text(nodes) + " nodes match";
    colour = context.theme.accent;
  } else {
    text = counted_text(nodes, "node");
    if (view_model.scene != nullptr && view_model.scene->has_groups)
      text += " in " + count_text(view_model.scene->boxes.size()) +
              (view_model.scene->boxes.size() == 1 ? " box" : " boxes");
    text += ", " + counted_text(context.graph()->record().edges.size(), "edge");
    if (context.view.critical_path && context.view_model != nullptr &&
        context.view_model->samples > 0 &&
        context.view_model->path.steps.size() == context.graph()->own_node_count())
      text += nodes == 1 ? ", on the critical path" : ", all on the critical path";
  }
  if (!bar.has_room(ImGui::CalcTextSize(text.c_str()).x)) return ImGui::NewLine();
  ImGui::AlignTextToFramePadding();
  text_right(text, colour);
}

}  // namespace

void collapse_all(const model::Graph& graph, GraphOptions& options) {
  options.collapsed = labels_to_collapse(graph, 0);
  options.max_boxes = kMaxBoxes;
  options.opened.clear();
}

void expand_all(GraphOptions& options) {
  options.collapsed.emplace();
  options.max_boxes = std::numeric_limits<std::uint32_t>::max();
}

GraphToolbarAction draw_graph_toolbar(PanelContext& context,
                                      const GraphToolbarViewModel& view_model,
                                      GraphOptions& options) {
  GraphToolbarAction action = GraphToolbarAction::Nothing;
  ImGui::AlignTextToFramePadding();
  ImGui::PushStyleColor(ImGuiCol_Text, context.theme.ink_soft);
  ImGui::TextUnformatted("Colour");
  ImGui::PopStyleColor();
  ImGui::SameLine(0, context.theme.space);
  draw_colour_combo(context);
  Toolbar bar(context.theme, "graph toolbar");
  draw_times_choice(context, bar, options);
  if (bar.place(100 * context.theme.scale)) {
    const std::array<ChoiceItem, 2> directions = {ChoiceItem{"Down", "Edges point down."},
                                                  ChoiceItem{"Right", "Edges point right."}};
    const int chosen =
        draw_choice(context.theme, "direction", directions, static_cast<int>(view_model.direction));
    if (chosen != static_cast<int>(view_model.direction))
      options.direction = static_cast<Direction>(chosen);
  }
  if (bar.place(110 * context.theme.scale) &&
      draw_toggle(
          context.theme, "critical",
          {.text = "Critical path",
           .explanation =
               "Outlines the nodes and edges that determine the duration of the graph (C). A path "
               "through all nodes is not outlined.",
           .colour = context.theme.critical,
           .is_on = context.view.critical_path})) {
    context.view.critical_path = !context.view.critical_path;
  }
  draw_collapse_toggle(context, bar, view_model.scene, options);
  if (bar.place(64 * context.theme.scale) &&
      draw_toggle(context.theme, "legend",
                  {.text = "Legend",
                   .explanation = "Shows the meaning of colours and lines beside the graph.",
                   .is_on = options.legend})) {
    options.legend = !options.legend;
  }
  if (bar.place(84 * context.theme.scale) &&
      draw_toggle(context.theme, "fit",
                  {.text = "Fit to view",
                   .explanation = "Fits the whole graph into the view (Home).",
                   .is_on = false})) {
    action = GraphToolbarAction::Fit;
  }
  draw_counts(context, bar, view_model);
  return action;
}

}  // namespace reprise::viewer
