// Node colours by ViewState::colour_by, their choice and their legend. Declared in widgets.hpp.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "panels/widgets/format.hpp"
#include "panels/widgets/widgets.hpp"

namespace reprise::viewer {

namespace {

constexpr std::size_t kMaxLegendItems = 10;

constexpr std::array kColours = {ColourBy::Median, ColourBy::P99,  ColourBy::Share,
                                 ColourBy::Slack,  ColourBy::Kind, ColourBy::Label,
                                 ColourBy::Lane};

const char* colour_explanation(ColourBy by) {
  switch (by) {
    case ColourBy::Median: return "Median duration of the node.";
    case ColourBy::P99: return "99th percentile of the node's duration.";
    case ColourBy::Share: return "Share of the total node time.";
    case ColourBy::Slack:
      return "Time by which the node can grow without lengthening the critical path.";
    case ColourBy::Kind:
      return "Work of the kernel by its name, such as GEMM or reduction; otherwise dispatch, copy, "
             "fill or host function.";
    case ColourBy::Label: return "Label of the node.";
    case ColourBy::Lane: return "Lane assigned by the plan.";
  }
  return "";
}

// Position of `value` between `min` and `max`, 0 to 1; 0.5 if min equals max.
float fraction(double value, double min, double max) {
  return max > min ? static_cast<float>((value - min) / (max - min)) : 0.5f;
}

// Durations span orders of magnitude; the square root separates the slowest and keeps differences
// among the rest visible.
ImU32 time_heat(double value, double min, double max) {
  return heat(std::sqrt(std::max(0.0f, fraction(value, min, max))));
}
// The value that time_heat() maps to the middle of the colour map.
double mid_value(double min, double max) { return min + (max - min) / 4; }

ImU32 label_colour(const PanelContext& context, std::uint32_t label) {
  const trace::Label& l = context.graph()->record().labels[label];
  if (l.color != 0)
    return IM_COL32((l.color >> 16) & 0xff, (l.color >> 8) & 0xff, l.color & 0xff, 255);
  return label == 0 ? context.theme.node : category(context.theme, label - 1);
}

// The groups of kinds: the number of a kind of nodes, or this and that of a kind of kernels.
constexpr std::uint32_t kFirstKernelKind = 64;

std::uint32_t kind_group(const model::Graph& graph, std::uint32_t node) {
  const detail::KernelKind kernel = graph.kernel_kind(node);
  switch (kernel) {
    case detail::KernelKind::Other:
      return static_cast<std::uint32_t>(graph.record().nodes[node].kind);
    case detail::KernelKind::Copy: return static_cast<std::uint32_t>(trace::NodeKind::Copy);
    case detail::KernelKind::Fill: return static_cast<std::uint32_t>(trace::NodeKind::Fill);
    default: return kFirstKernelKind + static_cast<std::uint32_t>(kernel);
  }
}

LegendItem kind_item(const Theme& theme, std::uint32_t group) {
  if (group >= kFirstKernelKind) {
    const auto kind = static_cast<detail::KernelKind>(group - kFirstKernelKind);
    return {kind_colour(theme, kind), detail::kernel_kind_name(kind)};
  }
  const auto kind = static_cast<trace::NodeKind>(group);
  return {kind_colour(theme, kind), kind_name(kind)};
}

// The legend group of a node for categorical colours: its kind, label or lane.
std::uint32_t group_of(const PanelContext& context, std::uint32_t node) {
  const trace::Node& n = context.graph()->record().nodes[node];
  switch (context.view.colour_by) {
    case ColourBy::Kind: return kind_group(*context.graph(), node);
    case ColourBy::Label: return n.label;
    case ColourBy::Lane: return n.lane;
    case ColourBy::Median:
    case ColourBy::P99:
    case ColourBy::Share:
    case ColourBy::Slack: break;
  }
  return 0;
}

LegendItem group_item(const PanelContext& context, std::uint32_t group) {
  switch (context.view.colour_by) {
    case ColourBy::Kind: return kind_item(context.theme, group);
    case ColourBy::Label:
      return {label_colour(context, group),
              group == 0 ? "no label" : shortened(context.graph()->label_path(group), 36)};
    case ColourBy::Lane: return {category(context.theme, group), "lane " + std::to_string(group)};
    case ColourBy::Median:
    case ColourBy::P99:
    case ColourBy::Share:
    case ColourBy::Slack: break;
  }
  return {};
}

bool has_node_times(const PanelContext& context) {
  return context.view_model != nullptr && context.view_model->samples > 0;
}

float draw_group_legend(const PanelContext& context, ImVec2 at, const char* title) {
  std::vector<std::uint32_t> groups;
  for (std::uint32_t node = 0; node < context.graph()->node_count(); ++node) {
    const std::uint32_t group = group_of(context, node);
    const auto position = std::lower_bound(groups.begin(), groups.end(), group);
    if (position == groups.end() || *position != group) groups.insert(position, group);
  }
  std::vector<LegendItem> items;
  for (std::size_t i = 0; i < std::min(groups.size(), kMaxLegendItems); ++i)
    items.push_back(group_item(context, groups[i]));
  if (groups.size() > kMaxLegendItems)
    items.push_back({0, "+" + count_text(groups.size() - kMaxLegendItems) + " more"});
  return draw_legend(context.theme, at, title, items);
}

}  // namespace

ImU32 kind_colour(const Theme& theme, const model::Graph& graph, std::uint32_t node) {
  return kind_item(theme, kind_group(graph, node)).colour;
}

ImU32 node_colour(const PanelContext& context, std::uint32_t node) {
  const model::Graph* const graph = context.graph();
  if (graph == nullptr) return context.theme.node;
  const trace::Node& record = graph->record().nodes[node];
  switch (context.view.colour_by) {
    case ColourBy::Kind: return kind_colour(context.theme, *graph, node);
    case ColourBy::Label: return label_colour(context, record.label);
    case ColourBy::Lane: return category(context.theme, record.lane);
    case ColourBy::Median:
    case ColourBy::P99:
    case ColourBy::Share:
    case ColourBy::Slack: break;
  }
  if (!has_node_times(context) || node >= context.view_model->nodes.size() ||
      context.view_model->nodes[node].count == 0 || context.view_model->nodes[node].runs_bodies)
    return context.theme.node;
  const GraphViewModel& view_model = *context.view_model;
  const GraphViewModel::Node& n = view_model.nodes[node];
  switch (context.view.colour_by) {
    case ColourBy::P99: return time_heat(n.p99, view_model.min_p99, view_model.max_p99);
    case ColourBy::Share: return time_heat(n.share, 0, view_model.max_share);
    case ColourBy::Slack: return heat(1 - fraction(n.slack, 0, view_model.max_slack));
    case ColourBy::Median:
    case ColourBy::Kind:
    case ColourBy::Label:
    case ColourBy::Lane: break;
  }
  return time_heat(n.median, view_model.min, view_model.max);
}

float draw_colour_legend(const PanelContext& context, ImVec2 at, float width) {
  if (context.graph() == nullptr) return 0;
  switch (context.view.colour_by) {
    case ColourBy::Kind: return draw_group_legend(context, at, "kind");
    case ColourBy::Label: return draw_group_legend(context, at, "label");
    case ColourBy::Lane: return draw_group_legend(context, at, "lane");
    case ColourBy::Median:
    case ColourBy::P99:
    case ColourBy::Share:
    case ColourBy::Slack: break;
  }
  if (!has_node_times(context)) {
    const LegendItem none{context.theme.node,
                          context.view_model == nullptr ? "loading samples" : "no samples"};
    return draw_legend(context.theme, at, "node duration", {&none, 1});
  }
  const GraphViewModel& view_model = *context.view_model;
  switch (context.view.colour_by) {
    case ColourBy::P99:
      return draw_heat_legend(context.theme, at, width, "node p99",
                              duration_text(view_model.min_p99), duration_text(view_model.max_p99),
                              duration_text(mid_value(view_model.min_p99, view_model.max_p99)));
    case ColourBy::Share:
      return draw_heat_legend(context.theme, at, width, "share of total node time", "0 %",
                              percent_text(view_model.max_share),
                              percent_text(mid_value(0, view_model.max_share)));
    case ColourBy::Slack:
      return draw_heat_legend(context.theme, at, width, "node slack",
                              duration_text(view_model.max_slack), "0");
    case ColourBy::Median:
    case ColourBy::Kind:
    case ColourBy::Label:
    case ColourBy::Lane: break;
  }
  return draw_heat_legend(context.theme, at, width, "node median", duration_text(view_model.min),
                          duration_text(view_model.max),
                          duration_text(mid_value(view_model.min, view_model.max)));
}

const char* colour_name(ColourBy by) {
  switch (by) {
    case ColourBy::Median: return "median";
    case ColourBy::P99: return "p99";
    case ColourBy::Share: return "share";
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
    return tooltip("Node colour in the graph, the timeline and the table.");
  for (const ColourBy by : kColours) {
    if (ImGui::Selectable(colour_name(by), by == context.view.colour_by))
      context.view.colour_by = by;
    tooltip(colour_explanation(by));
  }
  ImGui::EndCombo();
}

}  // namespace reprise::viewer
