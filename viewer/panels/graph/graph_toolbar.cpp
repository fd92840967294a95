#include "panels/graph/graph_toolbar.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "panels/widgets/choice.hpp"
#include "panels/widgets/format.hpp"
#include "panels/widgets/widgets.hpp"

namespace reprise::viewer {

namespace {

constexpr std::array kColours = {ColourBy::Median, ColourBy::P99,  ColourBy::Share,
                                 ColourBy::Slack,  ColourBy::Kind, ColourBy::Label,
                                 ColourBy::Lane};

const char* colour_explanation(ColourBy by) {
  switch (by) {
    case ColourBy::Median: return "The middle of a node's times: half of its runs took longer.";
    case ColourBy::P99: return "What one of a hundred runs of a node took longer than.";
    case ColourBy::Share: return "A node's part of the time of all nodes.";
    case ColourBy::Slack:
      return "How much longer a node could take without making the graph longer.";
    case ColourBy::Kind: return "Dispatches, copies, fills, host functions.";
    case ColourBy::Label: return "The label that a node was recorded in.";
    case ColourBy::Lane: return "The lane that the plan put a node in.";
  }
  return "";
}

bool follows(const Theme& theme, float width) {
  ImGui::SameLine(0, theme.space);
  return ImGui::GetContentRegionAvail().x >= width;
}

void draw_times_choice(PanelContext& context, GraphOptions& options) {
  if (context.replay == nullptr) return;
  const std::string replay = "replay " + count_text(context.replay->replay.replay);
  const std::array<ChoiceItem, 2> items = {
      ChoiceItem{context.view.has_range() ? "chosen replays" : "all replays",
                 "Medians, p99 and shares over these replays."},
      ChoiceItem{replay, "The times of this replay alone."}};
  const float width = ImGui::CalcTextSize((items[0].text + items[1].text).c_str()).x +
                      4 * ImGui::GetStyle().FramePadding.x;
  if (!follows(context.theme, width)) return;
  options.times = static_cast<GraphTimes>(
      draw_choice(context.theme, "times", items, static_cast<int>(options.times)));
}

void draw_labels_toggle(PanelContext& context, GraphOptions& options) {
  const std::set<std::string> outermost = outermost_labels(*context.graph());
  if (outermost.empty() || !follows(context.theme, 110 * context.theme.scale)) return;
  const bool any = !options.collapsed.empty();
  if (draw_toggle(context.theme, "labels",
                  {.text = any ? "Expand labels" : "Collapse labels",
                   .explanation = any ? "Shows every node again."
                                      : "Makes one box of each outermost label. A double click on "
                                        "a label's title does that for one.",
                   .is_on = any})) {
    options.collapsed = any ? std::set<std::string>{} : outermost;
  }
}

void draw_counts(const PanelContext& context, const GraphToolbarViewModel& view_model) {
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
    text = count_text(nodes) + (nodes == 1 ? " node, " : " nodes, ") +
           count_text(context.graph()->record().edges.size()) + " edges";
  }
  if (!follows(context.theme, ImGui::CalcTextSize(text.c_str()).x)) return ImGui::NewLine();
  ImGui::AlignTextToFramePadding();
  text_right(text, colour);
}

}  // namespace

const char* colour_name(ColourBy by) {
  switch (by) {
    case ColourBy::Median: return "median time";
    case ColourBy::P99: return "p99 time";
    case ColourBy::Share: return "share of time";
    case ColourBy::Slack: return "slack";
    case ColourBy::Kind: return "kind";
    case ColourBy::Label: return "label";
    case ColourBy::Lane: return "lane";
  }
  return "?";
}

void draw_colour_combo(PanelContext& context) {
  ImGui::SetNextItemWidth(132 * context.theme.scale);
  if (!ImGui::BeginCombo("##colour", colour_name(context.view.colour_by)))
    return tooltip("What nodes are coloured by, here, in the timeline and in the table.");
  for (const ColourBy by : kColours) {
    if (ImGui::Selectable(colour_name(by), by == context.view.colour_by))
      context.view.colour_by = by;
    tooltip(colour_explanation(by));
  }
  ImGui::EndCombo();
}

std::set<std::string> outermost_labels(const model::Graph& graph) {
  const auto& labels = graph.record().labels;
  std::vector<std::uint8_t> used(labels.size(), 0);
  for (const trace::Node& node : graph.record().nodes) used[node.label] = 1;
  std::set<std::string> paths;
  for (auto l = static_cast<std::uint32_t>(labels.size()); l-- > 1;) {
    if (used[l] == 0) continue;
    used[labels[l].parent] = 1;
    if (labels[l].parent == 0) paths.insert(graph.label_path(l));
  }
  return paths;
}

GraphWish draw_graph_toolbar(PanelContext& context, const GraphToolbarViewModel& view_model,
                             GraphOptions& options) {
  GraphWish wish = GraphWish::Nothing;
  ImGui::AlignTextToFramePadding();
  ImGui::PushStyleColor(ImGuiCol_Text, context.theme.ink_soft);
  ImGui::TextUnformatted("Colour");
  ImGui::PopStyleColor();
  ImGui::SameLine(0, context.theme.space);
  draw_colour_combo(context);
  draw_times_choice(context, options);
  if (follows(context.theme, 100 * context.theme.scale)) {
    const std::array<ChoiceItem, 2> directions = {ChoiceItem{"Down", "Edges lead down."},
                                                  ChoiceItem{"Right", "Edges lead to the right."}};
    const int chosen =
        draw_choice(context.theme, "direction", directions, static_cast<int>(view_model.direction));
    if (chosen != static_cast<int>(view_model.direction))
      options.direction = static_cast<Direction>(chosen);
  }
  if (follows(context.theme, 110 * context.theme.scale) &&
      draw_toggle(
          context.theme, "critical",
          {.text = "Critical path",
           .explanation = "Marks the nodes and edges that decide how long the graph takes (C).",
           .colour = context.theme.critical,
           .is_on = context.view.critical_path})) {
    context.view.critical_path = !context.view.critical_path;
  }
  draw_labels_toggle(context, options);
  if (follows(context.theme, 64 * context.theme.scale) &&
      draw_toggle(context.theme, "legend",
                  {.text = "Legend",
                   .explanation = "What colours and lines mean.",
                   .is_on = options.legend})) {
    options.legend = !options.legend;
  }
  if (follows(context.theme, 40 * context.theme.scale) &&
      draw_toggle(
          context.theme, "fit",
          {.text = "Fit", .explanation = "Brings everything into sight (Home).", .is_on = false})) {
    wish = GraphWish::Fit;
  }
  draw_counts(context, view_model);
  return wish;
}

}  // namespace reprise::viewer
