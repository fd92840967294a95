// What the mouse is told about boxes, links and areas of a graph.
#include <algorithm>
#include <string>

#include "panels/graph/graph_hit.hpp"
#include "panels/widgets/format.hpp"
#include "panels/widgets/widgets.hpp"

namespace reprise::viewer {

namespace {

constexpr std::size_t kMostLines = 6;        // of a list in a tooltip
constexpr std::size_t kMostCharacters = 64;  // of a value, which stands on one line

class Lines {
 public:
  explicit Lines(const Theme& theme)
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
    plain(shortened(value, kMostCharacters), theme_.ink);
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

const char* access_word(trace::Access access) {
  switch (access) {
    case trace::Access::None: return "names";
    case trace::Access::Read: return "reads";
    case trace::Access::Write: return "writes";
    case trace::Access::ReadWrite: return "changes";
  }
  return "uses";
}

void draw_times(const GraphDrawing& d, Lines& lines, std::uint32_t node) {
  const GraphViewModel* view_model = d.context.view_model;
  if (view_model == nullptr || node >= view_model->nodes.size())
    return lines.soft("Times are being read.");
  const GraphViewModel::Node& n = view_model->nodes[node];
  if (n.count == 0)
    return lines.soft(view_model->samples == 0 ? "No node of this graph was timed."
                                               : "This node was not timed.");
  lines.field("median",
              duration_text(n.median) +
                  (n.count == 1 ? "  of 1 sample" : "  of " + count_text(n.count) + " samples"));
  if (n.count > 1) lines.field("p99", duration_text(n.p99));
  lines.field("share", percent_text(n.share) + " of all nodes' time");
  lines.field("slack", n.is_critical ? "none: on the critical path" : duration_text(n.slack));
  if (n.lost > 0) lines.field("lost", count_text(n.lost) + " times");
}

void draw_node(const GraphDrawing& d, Lines& lines, std::uint32_t node) {
  const model::Graph& graph = d.scene.graph();
  const trace::Node& record = graph.record().nodes[node];
  lines.title(graph.node_name(node));
  std::string what = kind_name(record.kind);
  if (const std::string path = graph.label_path(record.label); !path.empty())
    what += "  in " + path;
  lines.soft(what);
  draw_times(d, lines, node);
  if (const std::string& kernel = graph.kernel_name(node);
      !kernel.empty() && kernel != graph.node_name(node))
    lines.field("kernel", kernel);
  if (record.grid[0] != 0)
    lines.field("grid",
                dimensions(record.grid) +
                    (record.block[0] != 0 ? "  of blocks of " + dimensions(record.block) : ""));
  if (record.bytes != 0) lines.field("bytes", bytes_text(record.bytes));
  lines.field("source", place_text(graph, record.file, record.line));
  const auto accesses = graph.accesses(node);
  for (std::size_t i = 0; i < std::min(accesses.size(), kMostLines); ++i) {
    lines.field(access_word(accesses[i].access),
                graph.buffer_name(accesses[i].buffer) + "  " +
                    bytes_text(accesses[i].end - accesses[i].begin));
  }
  if (accesses.size() > kMostLines)
    lines.soft("and " + count_text(accesses.size() - kMostLines) + " more buffers");
}

void draw_members(const GraphDrawing& d, Lines& lines, std::uint32_t label,
                  const std::vector<std::uint32_t>& members) {
  lines.title(d.scene.graph().label_path(label));
  double sum = 0, share = 0;
  std::uint32_t slowest = trace::kNone;
  for (const std::uint32_t node : members) {
    if (d.context.view_model == nullptr || node >= d.context.view_model->nodes.size()) break;
    const GraphViewModel::Node& n = d.context.view_model->nodes[node];
    sum += n.median;
    share += n.share;
    if (n.count > 0 &&
        (slowest == trace::kNone || n.median > d.context.view_model->nodes[slowest].median))
      slowest = node;
  }
  lines.soft(count_text(members.size()) + (members.size() == 1 ? " node" : " nodes"));
  if (slowest == trace::kNone) return;
  lines.field("medians", duration_text(sum) + " together");
  lines.field("share", percent_text(share) + " of all nodes' time");
  lines.field("slowest", d.scene.graph().node_name(slowest) + "  " +
                             duration_text(d.context.view_model->nodes[slowest].median));
}

}  // namespace

void draw_box_tooltip(const GraphDrawing& drawing, std::uint32_t b) {
  Lines lines(drawing.theme());
  const GraphBox& box = drawing.scene.boxes[b];
  if (box.label == trace::kNone) return draw_node(drawing, lines, box.node);
  const auto members = drawing.scene.members_of(b);
  draw_members(drawing, lines, box.label, {members.begin(), members.end()});
  lines.soft("Double-click opens it.");
}

void draw_link_tooltip(const GraphDrawing& drawing, std::uint32_t link) {
  Lines lines(drawing.theme());
  const model::Graph& graph = drawing.scene.graph();
  const auto edges = drawing.scene.edges_of(link);
  const trace::Edge& first = graph.record().edges[edges.front()];
  lines.title(graph.node_name(first.from) + "  before  " + graph.node_name(first.to));
  for (std::size_t i = 0; i < std::min(edges.size(), kMostLines); ++i)
    lines.soft(edge_reason(graph, edges[i]));
  if (edges.size() > kMostLines)
    lines.soft("and " + count_text(edges.size() - kMostLines) + " more edges");
}

void draw_area_tooltip(const GraphDrawing& drawing, std::uint32_t area) {
  Lines lines(drawing.theme());
  const model::Graph& graph = drawing.scene.graph();
  const std::uint32_t label = drawing.scene.areas[area].group + 1;
  std::vector<std::uint32_t> members;
  for (std::uint32_t n = 0; n < graph.node_count(); ++n) {
    if (graph.is_below(graph.record().nodes[n].label, label)) members.push_back(n);
  }
  draw_members(drawing, lines, label, members);
  lines.soft("Double-click makes one box of it.");
}

}  // namespace reprise::viewer
