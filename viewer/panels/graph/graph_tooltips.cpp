// Tooltips of boxes, links and areas of a graph.
#include <algorithm>
#include <string>

#include "panels/graph/graph_hit.hpp"
#include "panels/widgets/format.hpp"
#include "panels/widgets/widgets.hpp"

namespace reprise::viewer {

namespace {

constexpr std::size_t kMaxLines = 6;        // per list
constexpr std::size_t kMaxCharacters = 64;  // per value

class TooltipLines {
 public:
  explicit TooltipLines(const Theme& theme)
      : theme_(theme), value_x_(ImGui::GetCursorPosX() + 76 * theme.scale) {}
  void title(const std::string& text) {
    ImGui::PushFont(theme_.text);
    plain(text, theme_.ink);
    ImGui::PopFont();
  }
  void soft(const std::string& text) { plain(text, theme_.ink_soft); }
  void field(const char* name, const std::string& value) {
    if (value.empty()) return;
    plain(name, theme_.ink_soft);
    ImGui::SameLine(value_x_);
    plain(shortened(value, kMaxCharacters), theme_.ink);
  }

 private:
  static void plain(const std::string& text, ImU32 colour) {
    ImGui::PushStyleColor(ImGuiCol_Text, colour);
    ImGui::TextUnformatted(text.c_str());
    ImGui::PopStyleColor();
  }
  const Theme& theme_;
  float value_x_;
};

std::string dimensions(const std::uint32_t (&d)[3]) {
  std::string text = count_text(d[0]);
  if (d[1] > 1 || d[2] > 1) text += " x " + count_text(d[1]);
  if (d[2] > 1) text += " x " + count_text(d[2]);
  return text;
}

const char* access_text(trace::Access access) {
  switch (access) {
    case trace::Access::None: return "none";
    case trace::Access::Read: return "read";
    case trace::Access::Write: return "write";
    case trace::Access::ReadWrite: return "read-write";
  }
  return "access";
}

void draw_times(const GraphDrawContext& d, TooltipLines& lines, std::uint32_t node) {
  const GraphViewModel* view_model = d.context.view_model;
  if (view_model == nullptr || node >= view_model->nodes.size())
    return lines.soft("Loading samples.");
  const GraphViewModel::Node& n = view_model->nodes[node];
  if (n.count == 0)
    return lines.soft(view_model->samples == 0 ? "No samples for this graph."
                                               : "No samples for this node.");
  lines.field("median",
              duration_text(n.median) +
                  (n.count == 1 ? "  (1 sample)" : "  (" + count_text(n.count) + " samples)"));
  if (n.count > 1) lines.field("p99", duration_text(n.p99));
  lines.field("share", percent_text(n.share) + " of total node time");
  lines.field("slack", n.is_critical ? "0 (critical path)" : duration_text(n.slack));
  if (n.lost > 0) lines.field("lost", count_text(n.lost) + (n.lost == 1 ? " sample" : " samples"));
}

void draw_node(const GraphDrawContext& d, TooltipLines& lines, std::uint32_t node) {
  const model::Graph& graph = d.scene.graph();
  const trace::Node& record = graph.record().nodes[node];
  lines.title(graph.node_name(node));
  std::string kind = graph.kind_name(node);
  if (const std::string path = graph.label_path(record.label); !path.empty())
    kind += "  in " + path;
  lines.soft(kind);
  draw_times(d, lines, node);
  if (const std::string& kernel = graph.kernel_name(node);
      !kernel.empty() && kernel != graph.node_name(node))
    lines.field("kernel", kernel);
  if (const std::string whole = whole_kernel_text(graph, node); !whole.empty())
    lines.field("whole name", whole);
  if (record.grid[0] != 0) lines.field("grid", dimensions(record.grid));
  if (record.grid[0] != 0 && record.block[0] != 0) lines.field("block", dimensions(record.block));
  if (record.bytes != 0) lines.field("bytes", bytes_text(record.bytes));
  lines.field("source", source_location_text(graph, record.file, record.line));
  const auto accesses = graph.accesses(node);
  for (std::size_t i = 0; i < std::min(accesses.size(), kMaxLines); ++i) {
    lines.field(access_text(accesses[i].access),
                graph.buffer_name(accesses[i].buffer) + "  " +
                    bytes_text(accesses[i].end - accesses[i].begin));
  }
  if (accesses.size() > kMaxLines)
    lines.soft("+" + count_text(accesses.size() - kMaxLines) + " more accesses");
}

// `members`: ascending.
void draw_members(const GraphDrawContext& d, TooltipLines& lines, const std::string& title,
                  const std::vector<std::uint32_t>& members) {
  lines.title(title);
  double sum = 0, share = 0;
  std::uint32_t slowest = trace::kNone;
  for (const std::uint32_t node : members) {
    if (d.context.view_model == nullptr || node >= d.context.view_model->nodes.size()) break;
    const GraphViewModel::Node& n = d.context.view_model->nodes[node];
    // The time of a node includes that of the bodies it runs.
    if (!std::binary_search(members.begin(), members.end(), d.scene.graph().parent(node))) {
      sum += n.median;
      share += n.share;
    }
    if (n.count > 0 &&
        (slowest == trace::kNone || n.median > d.context.view_model->nodes[slowest].median))
      slowest = node;
  }
  lines.soft(count_text(members.size()) + (members.size() == 1 ? " node" : " nodes"));
  if (slowest == trace::kNone) return;
  lines.field("total", duration_text(sum) + "  (sum of medians)");
  lines.field("share", percent_text(share) + " of total node time");
  lines.field("slowest", d.scene.graph().node_name(slowest) + "  " +
                             duration_text(d.context.view_model->nodes[slowest].median));
}

}  // namespace

void draw_box_tooltip(const GraphDrawContext& drawing, std::uint32_t b) {
  TooltipLines lines(drawing.theme());
  const GraphBox& box = drawing.scene.boxes[b];
  if (!box.is_group()) return draw_node(drawing, lines, box.node);
  const auto members = drawing.scene.members_of(b);
  draw_members(drawing, lines,
               box.label == trace::kNone ? box.name : drawing.scene.graph().label_path(box.label),
               {members.begin(), members.end()});
  lines.soft("Double-click to expand.");
}

void draw_link_tooltip(const GraphDrawContext& drawing, std::uint32_t link) {
  TooltipLines lines(drawing.theme());
  const model::Graph& graph = drawing.scene.graph();
  const auto edges = drawing.scene.edges_of(link);
  const trace::Edge& first = graph.record().edges[edges.front()];
  lines.title(graph.node_name(first.from) + "  ->  " + graph.node_name(first.to));
  for (std::size_t i = 0; i < std::min(edges.size(), kMaxLines); ++i)
    lines.soft(edge_reason(graph, edges[i]));
  if (edges.size() > kMaxLines)
    lines.soft("+" + count_text(edges.size() - kMaxLines) + " more edges");
}

void draw_area_tooltip(const GraphDrawContext& drawing, std::uint32_t area) {
  TooltipLines lines(drawing.theme());
  const model::Graph& graph = drawing.scene.graph();
  const std::uint32_t label = drawing.scene.areas[area].group + 1;
  std::vector<std::uint32_t> members;
  for (std::uint32_t n = 0; n < graph.node_count(); ++n) {
    if (graph.is_below(graph.record().nodes[n].label, label)) members.push_back(n);
  }
  draw_members(drawing, lines, graph.label_path(label), members);
  lines.soft("Double-click to collapse.");
}

}  // namespace reprise::viewer
