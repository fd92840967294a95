// What nodes are coloured by, and the legend that says so: the part of widgets that reads the shared facts.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "panels/format.hpp"
#include "panels/widgets.hpp"

namespace reprise::viewer {

namespace {

constexpr std::size_t kMostLegendItems = 10;

// 0 to 1 between two ends; the ends alike: the middle.
float part_of(double value, double least, double greatest) {
  return greatest > least ? static_cast<float>((value - least) / (greatest - least)) : 0.5f;
}

// Times spread over orders of magnitude: the root keeps the slowest apart, and shows differences among the rest.
ImU32 time_heat(double value, double least, double greatest) { return heat(std::sqrt(std::max(0.0f, part_of(value, least, greatest)))); }
// What has the colour in the middle.
double half_way(double least, double greatest) { return least + (greatest - least) / 4; }

ImU32 label_colour(const Frame& frame, std::uint32_t label) {
  const trace::Label& l = frame.graph()->record().labels[label];
  if (l.color != 0) return IM_COL32((l.color >> 16) & 0xff, (l.color >> 8) & 0xff, l.color & 0xff, 255);
  return label == 0 ? frame.theme.node : category(frame.theme, label - 1);
}

// What stands in the legend of a colour that is not of the heat map: a number each, as nodes have them.
std::uint32_t group_of(const Frame& frame, std::uint32_t node) {
  const trace::Node& n = frame.graph()->record().nodes[node];
  switch (frame.view.colour_by) {
    case ColourBy::Kind: return static_cast<std::uint32_t>(n.kind);
    case ColourBy::Label: return n.label;
    case ColourBy::Lane: return n.lane;
    case ColourBy::Median:
    case ColourBy::P99:
    case ColourBy::Share:
    case ColourBy::Slack: break;
  }
  return 0;
}

LegendItem group_item(const Frame& frame, std::uint32_t group) {
  switch (frame.view.colour_by) {
    case ColourBy::Kind: {
      const auto kind = static_cast<trace::NodeKind>(group);
      return {kind_colour(frame.theme, kind), kind_name(kind)};
    }
    case ColourBy::Label: return {label_colour(frame, group), group == 0 ? "no label" : shortened(frame.graph()->label_path(group), 36)};
    case ColourBy::Lane: return {category(frame.theme, group), "lane " + std::to_string(group)};
    case ColourBy::Median:
    case ColourBy::P99:
    case ColourBy::Share:
    case ColourBy::Slack: break;
  }
  return {};
}

bool has_node_times(const Frame& frame) { return frame.facts != nullptr && frame.facts->samples > 0; }

float draw_group_legend(const Frame& frame, ImVec2 at, const char* title) {
  std::vector<std::uint32_t> groups;
  for (std::uint32_t node = 0; node < frame.graph()->node_count(); ++node) {
    const std::uint32_t group = group_of(frame, node);
    const auto place = std::lower_bound(groups.begin(), groups.end(), group);
    if (place == groups.end() || *place != group) groups.insert(place, group);
  }
  std::vector<LegendItem> items;
  for (std::size_t i = 0; i < std::min(groups.size(), kMostLegendItems); ++i) items.push_back(group_item(frame, groups[i]));
  if (groups.size() > kMostLegendItems) items.push_back({0, "and " + count_text(groups.size() - kMostLegendItems) + " more"});
  return draw_legend(frame.theme, at, title, items);
}

}  // namespace

ImU32 node_colour(const Frame& frame, std::uint32_t node) {
  const model::Graph* const graph = frame.graph();
  if (graph == nullptr) return frame.theme.node;
  const trace::Node& record = graph->record().nodes[node];
  switch (frame.view.colour_by) {
    case ColourBy::Kind: return kind_colour(frame.theme, record.kind);
    case ColourBy::Label: return label_colour(frame, record.label);
    case ColourBy::Lane: return category(frame.theme, record.lane);
    case ColourBy::Median:
    case ColourBy::P99:
    case ColourBy::Share:
    case ColourBy::Slack: break;
  }
  if (!has_node_times(frame) || node >= frame.facts->nodes.size() || frame.facts->nodes[node].count == 0) return frame.theme.node;
  const GraphFacts& facts = *frame.facts;
  const GraphFacts::Node& n = facts.nodes[node];
  switch (frame.view.colour_by) {
    case ColourBy::P99: return time_heat(n.p99, facts.least_p99, facts.greatest_p99);
    case ColourBy::Share: return time_heat(n.share, 0, facts.greatest_share);
    case ColourBy::Slack: return heat(1 - part_of(n.slack, 0, facts.greatest_slack));
    case ColourBy::Median:
    case ColourBy::Kind:
    case ColourBy::Label:
    case ColourBy::Lane: break;
  }
  return time_heat(n.median, facts.least, facts.greatest);
}

float draw_colour_legend(const Frame& frame, ImVec2 at, float width) {
  if (frame.graph() == nullptr) return 0;
  switch (frame.view.colour_by) {
    case ColourBy::Kind: return draw_group_legend(frame, at, "kind of node");
    case ColourBy::Label: return draw_group_legend(frame, at, "label");
    case ColourBy::Lane: return draw_group_legend(frame, at, "lane");
    case ColourBy::Median:
    case ColourBy::P99:
    case ColourBy::Share:
    case ColourBy::Slack: break;
  }
  if (!has_node_times(frame)) {
    const LegendItem none{frame.theme.node, frame.facts == nullptr ? "times are being read" : "no node was timed"};
    return draw_legend(frame.theme, at, "time of a node", {&none, 1});
  }
  const GraphFacts& facts = *frame.facts;
  switch (frame.view.colour_by) {
    case ColourBy::P99:
      return draw_heat_legend(frame.theme, at, width, "p99 of a node", duration_text(facts.least_p99), duration_text(facts.greatest_p99),
                              duration_text(half_way(facts.least_p99, facts.greatest_p99)));
    case ColourBy::Share:
      return draw_heat_legend(frame.theme, at, width, "share of all nodes' time", "0 %", percent_text(facts.greatest_share),
                              percent_text(half_way(0, facts.greatest_share)));
    case ColourBy::Slack: return draw_heat_legend(frame.theme, at, width, "slack of a node", duration_text(facts.greatest_slack), "none");
    case ColourBy::Median:
    case ColourBy::Kind:
    case ColourBy::Label:
    case ColourBy::Lane: break;
  }
  return draw_heat_legend(frame.theme, at, width, "median of a node", duration_text(facts.least), duration_text(facts.greatest),
                          duration_text(half_way(facts.least, facts.greatest)));
}

}  // namespace reprise::viewer
