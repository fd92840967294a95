#include "panels/compare/compare_table.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string>

#include <imgui.h>

#include "panels/nodes/nodes_columns.hpp"
#include "panels/widgets/format.hpp"
#include "panels/widgets/item_menu.hpp"
#include "panels/widgets/row_order.hpp"
#include "panels/widgets/table_columns.hpp"
#include "panels/widgets/widgets.hpp"

namespace reprise::viewer {

ImU32 slower_colour(const Theme& theme) { return category(theme, 4); }
ImU32 faster_colour(const Theme& theme) {
  return category(theme, theme.shade == Shade::Dark ? 0 : 6);
}

namespace {

using model::ComparedNode;
using model::GraphComparison;
using model::Verdict;

enum Column : int {
  kNode,
  kBar,
  kEffect,
  kOnPath,
  kGap,
  kVerdict,
  kMedianA,
  kMedianB,
  kChange,
  kP,
  kSamples,
  kLabel
};

constexpr std::array<TableColumn, 12> kCompareColumns{{
    {"Node", "Matched by name, label and kind, in order of occurrence.", 26, ColumnAlign::Left},
    {"Shorter | longer",
     "Effect on the mean replay. Left: the node makes the replays of B shorter.", 24,
     ColumnAlign::Right, "ns"},
    {"Effect",
     "What the node adds to the mean replay: the change of its mean time on the critical path, "
     "with the gap before it. The effects and the time outside nodes add up to the difference of "
     "the mean replays.",
     13, ColumnAlign::Right, "ns"},
    {"On path A | B",
     "Share of the replays in which the node is on the critical path. Where it differs, a node can "
     "be slower and yet make replays shorter.",
     17, ColumnAlign::Right},
    {"Gap", "The part of the effect that is the gap before the node.", 13, ColumnAlign::Right,
     "ns"},
    {"Verdict",
     "The node itself: slower or faster if the difference of its durations is statistically "
     "significant (Mann-Whitney test with Bonferroni correction).",
     18, ColumnAlign::Right},
    {"Median A", "Median duration in A, within 0.1 %.", 11, ColumnAlign::Right, "ns"},
    {"Median B", "Median duration in B, within 0.1 %.", 11, ColumnAlign::Right, "ns"},
    {"Change", "Relative change of the median from A to B.", 10, ColumnAlign::Right},
    {"p", "Probability of a difference at least this large if nothing changed.", 9,
     ColumnAlign::Right},
    {"Samples A | B", "Number of samples per side.", 17, ColumnAlign::Right},
    {"Label", "Label path of the node.", 18, ColumnAlign::Left},
}};

std::string p_text(const ComparedNode& node) {
  if (node.times.verdict != Verdict::Slower && node.times.verdict != Verdict::Faster &&
      node.times.verdict != Verdict::Same)
    return {};
  if (node.times.p < 0.0001) return "<0.0001";
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "%.4f", node.times.p);
  return text.data();
}

bool is_definite(const ComparedNode& node) {
  return node.times.verdict != Verdict::Same && node.times.verdict != Verdict::TooFewSamples &&
         node.times.verdict != Verdict::Unmeasured;
}

// Names come from B if it has the node, because B is usually the newer side.
std::string name_of(const GraphComparison& result, const ComparedNode& node) {
  return node.b != trace::kNone ? result.graph_b->node_name(node.b)
                                : result.graph_a->node_name(node.a);
}
std::string label_of(const GraphComparison& result, const ComparedNode& node) {
  return node.b != trace::kNone
             ? result.graph_b->label_path(result.graph_b->record().nodes[node.b].label)
             : result.graph_a->label_path(result.graph_a->record().nodes[node.a].label);
}

// The node of the shown graph for a row; kNone if the shown graph is on neither side.
std::uint32_t shown_node(const PanelContext& context, const ComparedNode& node,
                         const CompareSection& a, const CompareSection& b) {
  const model::GraphKey shown = context.graph()->key();
  if (b.trace == CompareTrace::Shown && b.graph == shown && node.b != trace::kNone) return node.b;
  if (a.trace == CompareTrace::Shown && a.graph == shown && node.a != trace::kNone) return node.a;
  return trace::kNone;
}

void draw_bar(const Theme& theme, const ComparedNode& node, double largest) {
  if (!ImGui::TableSetColumnIndex(kBar) || largest <= 0) return;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, line = ImGui::GetTextLineHeight();
  const float middle = std::round(at.x + width / 2), top = at.y + line * 0.15f,
              bottom = at.y + line * 0.9f;
  ImDrawList* draw = ImGui::GetWindowDrawList();
  const auto end = middle + (width / 2 - 1) * static_cast<float>(node.effect / largest);
  if (std::abs(end - middle) >= 0.5f) {
    const ImU32 colour = node.effect > 0 ? slower_colour(theme) : faster_colour(theme);
    const ImVec2 min{std::min(middle, end), top}, max{std::max(middle, end), bottom};
    if (is_definite(node)) {
      draw->AddRectFilled(min, max, colour, 2);
    } else {  // hollow: not statistically significant
      draw->AddRect(min, max, with_alpha(colour, 0.7f), 2);
    }
  }
  draw->AddLine({middle, at.y - ImGui::GetStyle().CellPadding.y},
                {middle, at.y + line + ImGui::GetStyle().CellPadding.y}, theme.ink_faint);
}

double gap_effect(const GraphComparison& result, const ComparedNode& node) {
  if (node.effect == 0) return 0;
  return (node.b == trace::kNone ? 0 : result.contributions_b.gaps[node.b]) -
         (node.a == trace::kNone ? 0 : result.contributions_a.gaps[node.a]);
}

// The share of the replays with `node` on their critical path; 0 if the side has no such node.
double path_share(const model::Contributions& side, std::uint32_t node) {
  return node < side.on_path.size() ? side.on_path[node] : 0;
}
std::string path_text(const model::Contributions& side, std::uint32_t node) {
  return node == trace::kNone ? "none" : percent_text(path_share(side, node));
}
double path_change(const GraphComparison& result, const ComparedNode& node) {
  return path_share(result.contributions_b, node.b) - path_share(result.contributions_a, node.a);
}

std::string signed_text(double nanoseconds, double scale) {
  return (nanoseconds > 0 ? "+" : "") + column_text(nanoseconds, scale);
}

// A shape before the verdict, so that it can be recognised without colour or text.
void draw_verdict_symbol(const Theme& theme, const ComparedNode& node) {
  if (!ImGui::TableSetColumnIndex(kVerdict)) return;
  const char* text = verdict_name(node.times.verdict);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float line = ImGui::GetTextLineHeight(), size = line * 0.3f;
  const float left = at.x + ImGui::GetContentRegionAvail().x - ImGui::CalcTextSize(text).x -
                     2 * size - theme.half_space * 1.5f;
  const ImVec2 middle{left + size, at.y + line / 2};
  ImDrawList* draw = ImGui::GetWindowDrawList();
  if (node.times.verdict == Verdict::Slower) {
    const float y = middle.y + size * 0.7f;
    draw->AddTriangleFilled({middle.x - size, y}, {middle.x, middle.y - size}, {middle.x + size, y},
                            slower_colour(theme));
  } else if (node.times.verdict == Verdict::Faster) {
    const float y = middle.y - size * 0.7f;
    draw->AddTriangleFilled({middle.x - size, y}, {middle.x + size, y}, {middle.x, middle.y + size},
                            faster_colour(theme));
  } else if (node.times.verdict == Verdict::Added || node.times.verdict == Verdict::Removed) {
    draw->AddRectFilled({middle.x - size, middle.y - 1}, {middle.x + size, middle.y + 1},
                        theme.ink);
    if (node.times.verdict == Verdict::Added)
      draw->AddRectFilled({middle.x - 1, middle.y - size}, {middle.x + 1, middle.y + size},
                          theme.ink);
  }
}

}  // namespace

TableCell CompareTable::compared_cell(const Theme& theme, const GraphComparison& result,
                                      const ComparedNode& node, int column) const {
  const ImU32 ink = is_definite(node) ? theme.ink : theme.ink_soft;
  const auto number = [&](const std::string& text, double value) {
    return TableCell{.text = text, .colour = ink, .number = value, .is_mono = true};
  };
  switch (column) {
    case kNode: return {.text = name_of(result, node)};
    case kVerdict:
      return {.text = verdict_name(node.times.verdict),
              .colour = is_definite(node) ? theme.ink : theme.ink_faint,
              .note = verdict_reason(node.times, result.compared)};
    case kMedianA:
      if (node.times.count_a == 0) return {};
      return number(column_text(node.times.median_a, typical_median_), node.times.median_a);
    case kMedianB:
      if (node.times.count_b == 0) return {};
      return number(column_text(node.times.median_b, typical_median_), node.times.median_b);
    case kChange:
      if (node.times.count_a == 0 || node.times.count_b == 0) return {};
      return number(change_text(node.times.change), node.times.change);
    case kBar: return number({}, node.effect);
    case kEffect:
      if (node.effect == 0) return {};
      return number(signed_text(node.effect, largest_effect_), node.effect);
    case kGap: {
      const double gap = gap_effect(result, node);
      if (gap == 0) return {};
      return number(signed_text(gap, largest_effect_), gap);
    }
    case kOnPath:
      if (result.contributions_a.replays == 0 || result.contributions_b.replays == 0 ||
          is_in_body(result, node))
        return {};
      return {.text = path_text(result.contributions_a, node.a) + " | " +
                      path_text(result.contributions_b, node.b),
              .colour = ink,
              .is_mono = true};
    case kP: {
      const std::string text = p_text(node);
      return text.empty() ? TableCell{} : number(text, node.times.p);
    }
    case kSamples:
      return {.text = (node.a == trace::kNone ? "none" : count_text(node.times.count_a)) + " | " +
                      (node.b == trace::kNone ? "none" : count_text(node.times.count_b)),
              .colour = theme.ink_soft,
              .is_mono = true};
    default: return {.text = label_of(result, node), .colour = theme.ink_soft};
  }
}

void CompareTable::make_rows(const PanelContext& context,
                             const std::shared_ptr<const GraphComparison>& result,
                             const CompareSection& a, const CompareSection& b) {
  if (rows_result_ == result && rows_sort_ == sort_ && matches_ == context.matches &&
      shown_ == context.graph()->key())
    return;
  rows_result_ = result;
  rows_sort_ = sort_;
  matches_ = context.matches;
  shown_ = context.graph()->key();
  rows_.clear();
  // The filter applies to the shown graph; nodes only in the other graph are hidden while it is
  // set.
  for (std::uint32_t i = 0; i < result->nodes.size(); ++i) {
    const std::uint32_t node = shown_node(context, result->nodes[i], a, b);
    if (node == trace::kNone ? context.matches.empty() : context.passes(node)) rows_.push_back(i);
  }
  const std::vector<ComparedNode>& nodes = result->nodes;
  std::vector<double> medians;
  largest_effect_ = typical_median_ = 0;
  for (const std::uint32_t i : rows_) {
    largest_effect_ = std::max(largest_effect_, std::abs(nodes[i].effect));
    if (nodes[i].times.count_a != 0) medians.push_back(nodes[i].times.median_a);
    if (nodes[i].times.count_b != 0) medians.push_back(nodes[i].times.median_b);
  }
  if (!medians.empty()) {
    const auto typical =
        medians.begin() + static_cast<std::ptrdiff_t>((medians.size() - 1) * 3 / 4);
    std::nth_element(medians.begin(), typical, medians.end());
    typical_median_ = *typical;
  }
  const auto sort_by = [&](auto value) {
    std::vector<decltype(value(0u))> values(nodes.size());
    for (const std::uint32_t i : rows_) values[i] = value(i);
    sort_rows(rows_, sort_.is_descending,
              [&](std::uint32_t x, std::uint32_t y) { return values[x] < values[y]; });
  };
  switch (sort_.column) {
    case kNode: return sort_by([&](std::uint32_t i) { return name_of(*result, nodes[i]); });
    case kLabel: return sort_by([&](std::uint32_t i) { return label_of(*result, nodes[i]); });
    case kVerdict:
      return sort_by([&](std::uint32_t i) { return -static_cast<int>(nodes[i].times.verdict); });
    case kMedianA: return sort_by([&](std::uint32_t i) { return nodes[i].times.median_a; });
    case kMedianB: return sort_by([&](std::uint32_t i) { return nodes[i].times.median_b; });
    case kChange: return sort_by([&](std::uint32_t i) { return nodes[i].times.change; });
    case kBar: return sort_by([&](std::uint32_t i) { return nodes[i].effect; });
    case kOnPath: return sort_by([&](std::uint32_t i) { return path_change(*result, nodes[i]); });
    case kGap: return sort_by([&](std::uint32_t i) { return gap_effect(*result, nodes[i]); });
    case kP: return sort_by([&](std::uint32_t i) { return nodes[i].times.p; });
    case kSamples:
      return sort_by(
          [&](std::uint32_t i) { return nodes[i].times.count_a + nodes[i].times.count_b; });
    default: return sort_by([&](std::uint32_t i) { return std::abs(nodes[i].effect); });
  }
}

void CompareTable::draw(PanelContext& context, const std::shared_ptr<const GraphComparison>& result,
                        const CompareSection& a, const CompareSection& b) {
  const Theme& theme = context.theme;
  make_rows(context, result, a, b);
  if (rows_.empty()) {
    draw_empty(theme, result->nodes.empty() ? "No nodes" : "No matching nodes",
               result->nodes.empty() ? "" : "Esc clears the search.");
    return;
  }
  static_assert(kInitialSort.column == kEffect);
  if (!begin_table(theme, context.view,
                   {.id = "compared nodes", .columns = kCompareColumns, .sort = kInitialSort}))
    return;
  sort_ = sort_of(sort_);
  const TableContents contents{
      .name = "comparison",
      .columns = kCompareColumns,
      .rows = rows_.size(),
      .cell = [&](std::size_t row, std::size_t column) {
        const ComparedNode& node = result->nodes[rows_[row]];
        if (column != kNode) return compared_cell(theme, *result, node, static_cast<int>(column));
        const std::uint32_t shown = shown_node(context, node, a, b);
        return TableCell{
            .text = name_of(*result, node),
            .swatch = shown == trace::kNone ? theme.ink_faint : node_colour(context, shown)};
      }};
  ImGuiListClipper clipper;
  clipper.Begin(static_cast<int>(rows_.size()), row_height());
  while (clipper.Step()) {
    for (int row = clipper.DisplayStart; row < clipper.DisplayEnd; ++row) {
      const ComparedNode& node = result->nodes[rows_[static_cast<std::size_t>(row)]];
      const std::uint32_t shown = shown_node(context, node, a, b);
      const model::Selection selected = shown == trace::kNone
                                            ? model::Selection{}
                                            : model::SelectedNode{context.graph()->key(), shown};
      const bool is_selected = shown != trace::kNone && context.view.selection == selected;
      const RowInput input = begin_row(
          theme, row, {is_selected, shown != trace::kNone && context.view.hovered == selected});
      if (input.is_hovered && shown != trace::kNone) context.view.hovered = selected;
      if (input.is_clicked && shown != trace::kNone) context.view.select(selected);
      draw_row_menu(context, selected, static_cast<std::size_t>(row));
      draw_cells(theme, contents, static_cast<std::size_t>(row));
      draw_verdict_symbol(theme, node);
      draw_bar(theme, node, largest_effect_);
    }
  }
  end_table(context.view, contents);
}

}  // namespace reprise::viewer
