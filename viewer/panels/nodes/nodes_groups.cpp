#include "panels/nodes/nodes_groups.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iterator>
#include <span>
#include <utility>

#include <imgui.h>

#include "panels/widgets/format.hpp"
#include "panels/widgets/profile_text.hpp"
#include "panels/widgets/row_order.hpp"
#include "panels/widgets/table_columns.hpp"
#include "panels/widgets/widgets.hpp"

namespace reprise::viewer {

using trace::kNone;

namespace {

constexpr double kRefreshSeconds = 1;  // minimum time between groups of a growing document
constexpr std::uint8_t kCapturedOrdering = 3;

std::string group_name(const model::NodeGroup& group) {
  return group.parent == kNone && group.is_label ? "all nodes" : group.name;
}

// "epoch / forward"
std::string path_of(const std::vector<model::NodeGroup>& groups, std::uint32_t at) {
  std::string path = group_name(groups[at]);
  for (std::uint32_t up = groups[at].parent; up != kNone && up != 0; up = groups[up].parent)
    path = groups[up].name + " / " + path;
  return path;
}

// The chart shows the groups of the tree.
GroupView grouping_of(GroupView view) {
  return view == GroupView::Icicle ? GroupView::Labels : view;
}

double number_of(const model::NodeGroup& group, int column) {
  switch (column) {
    case 1: return static_cast<double>(group.nodes);
    case 2: return static_cast<double>(group.samples);
    case 4: return group.mean();
    default: return group.total;  // total and share
  }
}

}  // namespace

model::NodeTimes node_times(const model::Graph& graph, const GraphViewModel& view_model) {
  model::NodeTimes times{&graph, {}, {}};
  for (const GraphViewModel::Node& node : view_model.nodes) {
    times.totals.push_back(node.mean * static_cast<double>(node.count));
    times.counts.push_back(node.count);
  }
  return times;
}

std::string label_hint(const model::Graph& graph) {
  if (graph.record().labels.size() > 1) return {};
  return graph.record().ordering == kCapturedOrdering
             ? "No labels. NVTX ranges that are open during capture become labels: capture PyTorch "
               "modules inside torch.autograd.profiler.emit_nvtx(), or wrap them in "
               "torch.cuda.nvtx.range()."
             : "No labels. CommandBuffer::label() groups the commands recorded in its scope.";
}

std::vector<IcicleCell> icicle(const std::vector<model::NodeGroup>& groups, std::uint32_t focus,
                               double min_width) {
  std::vector<IcicleCell> cells;
  if (focus >= groups.size()) return cells;
  for (std::uint32_t at = focus; at != kNone; at = groups[at].parent)
    cells.push_back({at, groups[at].depth, 0, 1});
  std::reverse(cells.begin(), cells.end());
  const double whole = groups[focus].total;
  if (!(whole > 0)) return cells;
  // Groups are in preorder: the descendants of the focus follow it.
  std::vector<double> next(groups.size(), 0);  // the left end of the next child
  for (std::uint32_t at = focus + 1; at < groups.size(); ++at) {
    const std::uint32_t parent = groups[at].parent;
    if (parent == kNone || groups[at].depth <= groups[focus].depth) break;
    const double from = next[parent], width = groups[at].total / whole;
    next[parent] = from + width;
    next[at] = from;
    if (width >= min_width) cells.push_back({at, groups[at].depth, from, from + width});
  }
  return cells;
}

void NodeGroupsView::request(const PanelContext& context, GroupView view, GroupScope scope) {
  Key key{grouping_of(view), scope, {}, 0};
  if (scope == GroupScope::Graph) {
    if (context.view_model == nullptr) return;
    key.shown = graph_view_model_key(context);
  } else {
    key.shown.graph = context.graph()->key();
    key.revision = context.document->revision;
  }
  const bool is_same = requested_ && requested_->by == key.by && requested_->scope == scope &&
                       requested_->shown.graph == key.shown.graph;
  const double now = ImGui::GetTime();
  if (requested_ == key || (is_same && context.is_live && now - requested_at_ < kRefreshSeconds))
    return;
  requested_ = key;
  requested_at_ = now;
  std::vector<std::pair<model::GraphKey, model::GraphEntry>> entries;
  std::shared_ptr<const GraphViewModel> shown;
  if (scope == GroupScope::Graph) {
    entries.emplace_back(context.graph()->key(), *context.entry);
    shown = std::make_shared<const GraphViewModel>(*context.view_model);
  }
  groups_.ask(key, [key, entries = std::move(entries), shown, document = context.document,
                    topology = context.graph()->topology()]() mutable {
    if (key.scope != GroupScope::Graph) {
      for (const auto& [graph, entry] : document->graphs) {
        if (key.scope == GroupScope::Process || entry.graph->topology() == topology)
          entries.emplace_back(graph, entry);
      }
    }
    Groups groups{key.by, key.scope, key.shown.graph, {}, {}};
    std::vector<model::NodeTimes> times;
    for (const auto& [graph, entry] : entries) {
      groups.graphs.push_back(graph);
      times.push_back(shown ? node_times(*entry.graph, *shown) : model::node_times(entry));
    }
    switch (key.by) {
      case GroupView::Kernels: groups.groups = model::groups_by_kernel(times); break;
      case GroupView::Kinds: groups.groups = model::groups_by_kind(times); break;
      case GroupView::Sources: groups.groups = model::groups_by_source(times); break;
      case GroupView::Labels:
      case GroupView::Icicle: groups.groups = model::groups_by_label(times); break;
    }
    return groups;
  });
}

void NodeGroupsView::select(PanelContext& context, const Groups& groups,
                            const model::NodeGroup& group) {
  const model::GraphKey graph = groups.graphs[group.graph];
  context.view.show_graph(graph);
  context.view.select(model::SelectedNode{graph, group.node});
}

void NodeGroupsView::draw(PanelContext& context, GroupView view, GroupScope scope) {
  request(context, view, scope);
  const auto groups = groups_.value();
  if (!groups || groups->by != grouping_of(view) || groups->scope != scope ||
      groups->shown != context.graph()->key())
    return draw_busy(context.theme, "Grouping nodes");
  if (groups->groups.empty() ||
      std::none_of(groups->groups.begin(), groups->groups.end(),
                   [](const model::NodeGroup& group) { return group.samples != 0; }))
    return draw_empty(context.theme, "No node was measured", node_times_hint(*context.document));
  if (is_by_label(view)) {
    if (const std::string hint = label_hint(*context.graph()); !hint.empty()) {
      ImGui::PushStyleColor(ImGuiCol_Text, context.theme.ink_soft);
      ImGui::PushTextWrapPos(0);
      ImGui::TextUnformatted(hint.c_str());
      ImGui::PopTextWrapPos();
      ImGui::PopStyleColor();
    }
  }
  if (view == GroupView::Icicle) {
    draw_icicle(context, *groups);
  } else {
    draw_table(context, *groups);
  }
}

ImU32 NodeGroupsView::swatch_of(const PanelContext& context, const Groups& groups,
                                const model::NodeGroup& group) {
  if (groups.by != GroupView::Kinds) return 0;
  const model::GraphEntry* const entry = context.document->find(groups.graphs[group.graph]);
  return entry == nullptr ? 0 : kind_colour(context.theme, *entry->graph, group.node);
}

void NodeGroupsView::draw_table(PanelContext& context, const Groups& groups) {
  static constexpr auto columns_by = [](TableColumn name) {
    return std::array<TableColumn, 6>{
        {name,
         {"Nodes", "Number of nodes.", 8, ColumnAlign::Right},
         {"Samples", "Number of samples.", 10, ColumnAlign::Right},
         {"Total",
          "Sum of the samples. Loops and conditionals count without the nodes that they run.", 12,
          ColumnAlign::Right, "ns"},
         {"Mean", "Total divided by the number of samples.", 12, ColumnAlign::Right, "ns"},
         {"Share", "Fraction of the total of all nodes.", 9, ColumnAlign::Right}}};
  };
  static constexpr auto kByKernel = columns_by(
      {"Kernel", "Kernel name; the kind of nodes without a kernel.", 40, ColumnAlign::Left});
  static constexpr auto kByKind =
      columns_by({"Kind", "Work of the kernels, by their names; the kind of other nodes.", 40,
                  ColumnAlign::Left});
  static constexpr auto kBySource =
      columns_by({"Source", "Line that created the nodes: of Python, or of the engine's call.", 40,
                  ColumnAlign::Left});
  static constexpr auto kByLabel = columns_by(
      {"Label", "Tree of labels, with the kernels directly under each. Sorted by total: the tree.",
       40, ColumnAlign::Left});
  const Theme& theme = context.theme;
  const bool by_label = is_by_label(groups.by);
  std::span<const TableColumn> columns;
  const char* name = nullptr;
  switch (groups.by) {
    case GroupView::Kernels: columns = kByKernel, name = "kernels"; break;
    case GroupView::Kinds: columns = kByKind, name = "kinds"; break;
    case GroupView::Sources: columns = kBySource, name = "sources"; break;
    case GroupView::Labels:
    case GroupView::Icicle: columns = kByLabel, name = "labels"; break;
  }
  if (!begin_table(theme, context.view,
                   {name, columns, {order_.column, order_.is_descending}, {0, 0}}))
    return;
  const TableSort sort = sort_of({order_.column, order_.is_descending});
  order_ = {sort.column, sort.is_descending};
  const auto& all = groups.groups;
  const bool is_tree = by_label && order_ == Order{};
  std::vector<std::uint32_t> rows(all.size());
  for (std::uint32_t i = 0; i < rows.size(); ++i) rows[i] = i;
  if (!is_tree && order_.column == 0) {
    sort_rows(rows, order_.is_descending,
              [&](std::uint32_t a, std::uint32_t b) { return all[a].name < all[b].name; });
  } else if (!is_tree) {
    sort_rows(rows, order_.is_descending, [&](std::uint32_t a, std::uint32_t b) {
      return number_of(all[a], order_.column) < number_of(all[b], order_.column);
    });
  }
  const TableContents contents{
      .name = name,
      .columns = columns,
      .rows = rows.size(),
      .cell = [&](std::size_t row, std::size_t column) -> TableCell {
        const model::NodeGroup& group = all[rows[row]];
        switch (column) {
          case 0:
            return {.text = is_tree
                                ? std::string(std::size_t{3} * group.depth, ' ') + group_name(group)
                                : path_of(all, rows[row]),
                    .colour = group.is_label ? theme.ink : theme.ink_soft,
                    .swatch = swatch_of(context, groups, group)};
          case 1: return count_cell(group.nodes);
          case 2: return count_cell(group.samples);
          case 3: return time_cell(group.total);
          case 4: return time_cell(group.mean());
          default: return percent_cell(group.share);
        }
      }};
  ImGuiListClipper clipper;
  clipper.Begin(static_cast<int>(rows.size()), row_height());
  while (clipper.Step()) {
    for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
      const std::uint32_t at = rows[static_cast<std::size_t>(i)];
      const model::NodeGroup& group = all[at];
      const RowInput input = begin_row(theme, static_cast<int>(at), {});
      if (input.is_clicked) select(context, groups, group);
      if (input.is_hovered) tooltip("Click to select the node with the largest total.");
      draw_cells(theme, contents, static_cast<std::size_t>(i));
    }
  }
  end_table(context.view, contents);
}

void NodeGroupsView::draw_icicle(PanelContext& context, const Groups& groups) {
  const Theme& theme = context.theme;
  const auto& all = groups.groups;
  // The focus is stored as names, because groups are computed again while a trace grows.
  std::uint32_t focus = 0;
  for (std::size_t i = 0; i < focus_.size(); ++i) {
    const auto found = std::find_if(all.begin() + 1, all.end(), [&](const model::NodeGroup& g) {
      return g.parent == focus && g.is_label && g.name == focus_[i];
    });
    if (found == all.end()) {
      focus_.resize(i);
      break;
    }
    focus = static_cast<std::uint32_t>(found - all.begin());
  }
  ImGui::BeginChild("icicle");
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = std::max(1.0f, ImGui::GetContentRegionAvail().x), row = theme.row;
  const std::vector<IcicleCell> cells = icicle(all, focus, 1.0 / static_cast<double>(width));
  std::uint32_t levels = 1;
  for (const IcicleCell& cell : cells) levels = std::max(levels, cell.level + 1);
  ImGui::InvisibleButton("cells", {width, row * static_cast<float>(levels)});
  const bool is_hovered = ImGui::IsItemHovered(), is_clicked = ImGui::IsItemClicked();
  const ImVec2 mouse = ImGui::GetMousePos();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const IcicleCell* hit = nullptr;
  for (const IcicleCell& cell : cells) {
    const model::NodeGroup& group = all[cell.group];
    const ImVec2 min{at.x + width * static_cast<float>(cell.from),
                     at.y + row * static_cast<float>(cell.level)},
        max{at.x + width * static_cast<float>(cell.to) - 1, min.y + row - 1};
    const ImU32 colour =
        group.is_label
            ? category(theme, static_cast<std::uint32_t>(std::hash<std::string>{}(group.name) % 8))
            : theme.raised;
    const ImU32 fill = with_alpha(colour, group.is_label ? 0.75f : 1.0f);
    list->AddRectFilled(min, {std::max(max.x, min.x + 1), max.y}, fill, theme.radius / 2);
    const bool is_hit = is_hovered && mouse.x >= min.x && mouse.x < max.x + 1 && mouse.y >= min.y &&
                        mouse.y < max.y + 1;
    if (is_hit) {
      hit = &cell;
      list->AddRect(min, max, theme.accent, theme.radius / 2, 0, 2 * theme.scale);
    }
    if (max.x - min.x < 3 * ImGui::GetFontSize()) continue;
    const std::string text = group_name(group) + "  " + percent_text(group.share);
    list->PushClipRect(min, max, true);
    list->AddText({min.x + theme.half_space, min.y + (row - ImGui::GetFontSize()) / 2},
                  group.is_label ? ink_on(colour) : theme.ink, text.c_str());
    list->PopClipRect();
  }
  if (hit != nullptr) {
    const model::NodeGroup& group = all[hit->group];
    ImGui::BeginTooltip();
    ImGui::TextUnformatted(path_of(all, hit->group).c_str());
    ImGui::PushStyleColor(ImGuiCol_Text, theme.ink_soft);
    ImGui::TextUnformatted((percent_text(group.share) + ", total " + duration_text(group.total) +
                            ", mean " + duration_text(group.mean()) + ", " +
                            count_text(group.nodes) + (group.nodes == 1 ? " node" : " nodes"))
                               .c_str());
    ImGui::TextUnformatted(group.is_label ? "Click to enlarge; click a row above to return."
                                          : "Click to select its node with the largest total.");
    ImGui::PopStyleColor();
    ImGui::EndTooltip();
    if (is_clicked && group.is_label) {
      focus_.clear();
      for (std::uint32_t up = hit->group; up != 0 && up != kNone; up = all[up].parent)
        focus_.insert(focus_.begin(), all[up].name);
    } else if (is_clicked) {
      select(context, groups, group);
    }
  }
  ImGui::EndChild();
}

}  // namespace reprise::viewer
