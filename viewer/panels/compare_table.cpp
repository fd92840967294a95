#include "panels/compare_table.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string>

#include <imgui.h>

#include "panels/format.hpp"
#include "panels/nodes_columns.hpp"
#include "panels/row_order.hpp"
#include "panels/widgets.hpp"

namespace reprise::viewer {

ImU32 slower_colour(const Theme& theme) { return category(theme, 4); }
ImU32 faster_colour(const Theme& theme) { return category(theme, theme.shade == Shade::Dark ? 0 : 6); }

namespace {

enum Column : int { kNode, kVerdict, kMedianA, kMedianB, kChange, kBar, kEffect, kChance, kSamples, kLabel };

constexpr std::array<TableColumn, 10> kCompareColumns{{
    {"Node", "Matched by name, label and kind: the first such node of A with the first such node of B, and so on.", 26, ColumnAlign::Left},
    {"Verdict", "Slower or faster where chance alone is unlikely (Mann-Whitney, with a correction for the number of nodes).", 16, ColumnAlign::Right},
    {"Median A", "Half of its samples in A took no longer.", 11, ColumnAlign::Right},
    {"Median B", "Half of its samples in B took no longer.", 11, ColumnAlign::Right},
    {"Change", "Of the median, from A to B.", 10, ColumnAlign::Right},
    {"Faster | slower", "The effect on a replay as a bar, to the left where B is faster.", 24, ColumnAlign::Right},
    {"Effect", "What the change adds to a replay: the change of the median by how often the node runs in one.", 13, ColumnAlign::Right},
    {"p", "How likely a difference as large would be by chance, if nothing had changed.", 9, ColumnAlign::Right},
    {"Samples A | B", "Measured runs of each side.", 17, ColumnAlign::Right},
    {"Label", "The labels around it in the recording.", 18, ColumnAlign::Left},
}};

const char* verdict(const ComparedNode& node) {
  switch (node.as) {
    case ComparedAs::Slower: return "slower";
    case ComparedAs::Faster: return "faster";
    case ComparedAs::Same: return node.p < 0.05 ? "may be chance" : "no difference";
    case ComparedAs::TooFew: return "too few samples";
    case ComparedAs::Unmeasured: return "not measured";
    case ComparedAs::Added: return "only in B";
    case ComparedAs::Removed: return "only in A";
  }
  return "?";
}

std::string chance_text(const ComparedNode& node) {
  if (node.as != ComparedAs::Slower && node.as != ComparedAs::Faster && node.as != ComparedAs::Same) return {};
  if (node.p < 0.0001) return "<0.0001";
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "%.4f", node.p);
  return text.data();
}

bool is_certain(const ComparedNode& node) {
  return node.as != ComparedAs::Same && node.as != ComparedAs::TooFew && node.as != ComparedAs::Unmeasured;
}

// The side that names a row: B where it has the node, as that is the newer one.
std::string name_of(const CompareResult& result, const ComparedNode& node) {
  return node.b != trace::kNone ? result.graph_b->node_name(node.b) : result.graph_a->node_name(node.a);
}
std::string label_of(const CompareResult& result, const ComparedNode& node) {
  return node.b != trace::kNone ? result.graph_b->label_path(result.graph_b->record().nodes[node.b].label)
                                : result.graph_a->label_path(result.graph_a->record().nodes[node.a].label);
}

// The node of the shown graph that a row is about; kNone: of no such.
std::uint32_t shown_node(const Frame& frame, const ComparedNode& node, const CompareStretch& a, const CompareStretch& b) {
  const model::GraphKey shown = frame.graph()->key();
  if (b.trace == CompareTrace::Shown && b.graph == shown && node.b != trace::kNone) return node.b;
  if (a.trace == CompareTrace::Shown && a.graph == shown && node.a != trace::kNone) return node.a;
  return trace::kNone;
}

void draw_bar(const Theme& theme, const ComparedNode& node, double largest) {
  if (!ImGui::TableSetColumnIndex(kBar) || largest <= 0) return;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, line = ImGui::GetTextLineHeight();
  const float middle = std::round(at.x + width / 2), top = at.y + line * 0.15f, bottom = at.y + line * 0.9f;
  ImDrawList* draw = ImGui::GetWindowDrawList();
  const auto end = middle + (width / 2 - 1) * static_cast<float>(node.effect / largest);
  if (std::abs(end - middle) >= 0.5f) {
    const ImU32 colour = node.effect > 0 ? slower_colour(theme) : faster_colour(theme);
    const ImVec2 min{std::min(middle, end), top}, max{std::max(middle, end), bottom};
    if (is_certain(node)) {
      draw->AddRectFilled(min, max, colour, 2);
    } else {  // what may be chance is hollow
      draw->AddRect(min, max, with_alpha(colour, 0.7f), 2);
    }
  }
  draw->AddLine({middle, at.y - ImGui::GetStyle().CellPadding.y}, {middle, at.y + line + ImGui::GetStyle().CellPadding.y}, theme.ink_faint);
}

std::string signed_text(double nanoseconds, double scale) { return (nanoseconds > 0 ? "+" : "") + column_text(nanoseconds, scale); }

// A shape beside the word, so that neither colour nor reading is needed.
void draw_verdict(const Theme& theme, const ComparedNode& node) {
  if (!ImGui::TableSetColumnIndex(kVerdict)) return;
  const char* text = verdict(node);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float line = ImGui::GetTextLineHeight(), size = line * 0.3f;
  const float left = at.x + ImGui::GetContentRegionAvail().x - ImGui::CalcTextSize(text).x - 2 * size - theme.half_space * 1.5f;
  const ImVec2 middle{left + size, at.y + line / 2};
  ImDrawList* draw = ImGui::GetWindowDrawList();
  if (node.as == ComparedAs::Slower) {
    const float y = middle.y + size * 0.7f;
    draw->AddTriangleFilled({middle.x - size, y}, {middle.x, middle.y - size}, {middle.x + size, y}, slower_colour(theme));
  } else if (node.as == ComparedAs::Faster) {
    const float y = middle.y - size * 0.7f;
    draw->AddTriangleFilled({middle.x - size, y}, {middle.x + size, y}, {middle.x, middle.y + size}, faster_colour(theme));
  } else if (node.as == ComparedAs::Added || node.as == ComparedAs::Removed) {
    draw->AddRectFilled({middle.x - size, middle.y - 1}, {middle.x + size, middle.y + 1}, theme.ink);
    if (node.as == ComparedAs::Added) draw->AddRectFilled({middle.x - 1, middle.y - size}, {middle.x + 1, middle.y + size}, theme.ink);
  }
  text_right(text, is_certain(node) ? theme.ink : theme.ink_faint);
}

}  // namespace

void CompareTable::make_rows(const Frame& frame, const std::shared_ptr<const CompareResult>& result, const CompareStretch& a,
                             const CompareStretch& b) {
  if (made_of_ == result && made_sort_ == sort_ && matches_ == frame.matches && shown_ == frame.graph()->key()) return;
  made_of_ = result;
  made_sort_ = sort_;
  matches_ = frame.matches;
  shown_ = frame.graph()->key();
  rows_.clear();
  // The filter is of the shown graph: of what only the other side has, nothing is known, and it stays.
  for (std::uint32_t i = 0; i < result->nodes.size(); ++i) {
    const std::uint32_t node = shown_node(frame, result->nodes[i], a, b);
    if (node == trace::kNone ? frame.matches.empty() : frame.passes(node)) rows_.push_back(i);
  }
  const std::vector<ComparedNode>& nodes = result->nodes;
  std::vector<double> medians;
  largest_effect_ = usual_median_ = 0;
  for (const std::uint32_t i : rows_) {
    largest_effect_ = std::max(largest_effect_, std::abs(nodes[i].effect));
    if (nodes[i].count_a != 0) medians.push_back(nodes[i].median_a);
    if (nodes[i].count_b != 0) medians.push_back(nodes[i].median_b);
  }
  if (!medians.empty()) {
    const auto usual = medians.begin() + static_cast<std::ptrdiff_t>((medians.size() - 1) * 3 / 4);
    std::nth_element(medians.begin(), usual, medians.end());
    usual_median_ = *usual;
  }
  const auto sort_by = [&](auto value) {
    std::vector<decltype(value(0u))> values(nodes.size());
    for (const std::uint32_t i : rows_) values[i] = value(i);
    sort_rows(rows_, sort_.is_descending, [&](std::uint32_t x, std::uint32_t y) { return values[x] < values[y]; });
  };
  switch (sort_.column) {
    case kNode: return sort_by([&](std::uint32_t i) { return name_of(*result, nodes[i]); });
    case kLabel: return sort_by([&](std::uint32_t i) { return label_of(*result, nodes[i]); });
    case kVerdict: return sort_by([&](std::uint32_t i) { return -static_cast<int>(nodes[i].as); });
    case kMedianA: return sort_by([&](std::uint32_t i) { return nodes[i].median_a; });
    case kMedianB: return sort_by([&](std::uint32_t i) { return nodes[i].median_b; });
    case kChange: return sort_by([&](std::uint32_t i) { return nodes[i].change; });
    case kBar: return sort_by([&](std::uint32_t i) { return nodes[i].effect; });
    case kChance: return sort_by([&](std::uint32_t i) { return nodes[i].p; });
    case kSamples: return sort_by([&](std::uint32_t i) { return nodes[i].count_a + nodes[i].count_b; });
    default: return sort_by([&](std::uint32_t i) { return std::abs(nodes[i].effect); });
  }
}

void CompareTable::draw(Frame& frame, const std::shared_ptr<const CompareResult>& result, const CompareStretch& a, const CompareStretch& b) {
  const Theme& theme = frame.theme;
  make_rows(frame, result, a, b);
  if (rows_.empty()) {
    draw_empty(theme, result->nodes.empty() ? "The graphs have no node" : "No compared node passes the filter",
               result->nodes.empty() ? "" : "Esc clears the search.");
    return;
  }
  if (!begin_table(theme, {.id = "compared", .columns = kCompareColumns, .sort = kSortAtFirst})) return;
  sort_ = sort_of(sort_);
  ImGuiListClipper clipper;
  clipper.Begin(static_cast<int>(rows_.size()), row_height());
  while (clipper.Step()) {
    for (int row = clipper.DisplayStart; row < clipper.DisplayEnd; ++row) {
      const ComparedNode& node = result->nodes[rows_[static_cast<std::size_t>(row)]];
      const std::uint32_t shown = shown_node(frame, node, a, b);
      const model::Selection selected = shown == trace::kNone ? model::Selection{} : model::SelectedNode{frame.graph()->key(), shown};
      const bool is_selected = shown != trace::kNone && frame.view.selection == selected;
      const RowInput input = begin_row(theme, row, {is_selected, shown != trace::kNone && frame.view.hovered == selected});
      if (input.is_hovered && shown != trace::kNone) frame.view.hovered = selected;
      if (input.is_clicked && shown != trace::kNone) frame.view.select(selected);
      const ImVec2 at = ImGui::GetCursorScreenPos();
      const float line = ImGui::GetTextLineHeight(), size = std::round(line * 0.62f), top = at.y + (line - size) / 2;
      ImGui::GetWindowDrawList()->AddRectFilled({at.x, top}, {at.x + size, top + size},
                                                shown == trace::kNone ? theme.ink_faint : node_colour(frame, shown), 2);
      ImGui::Dummy({size, line});
      ImGui::SameLine(0, theme.space * 0.75f);
      ImGui::TextUnformatted(name_of(*result, node).c_str());
      draw_verdict(theme, node);
      ImGui::PushFont(theme.mono);
      const ImU32 ink = is_certain(node) ? theme.ink : theme.ink_soft;
      const bool has_both = node.count_a != 0 && node.count_b != 0;
      if (node.count_a != 0) draw_number(theme, kMedianA, column_text(node.median_a, usual_median_), ink);
      if (node.count_b != 0) draw_number(theme, kMedianB, column_text(node.median_b, usual_median_), ink);
      if (has_both) draw_number(theme, kChange, change_text(node.change), ink);
      draw_bar(theme, node, largest_effect_);
      if (node.effect != 0) draw_number(theme, kEffect, signed_text(node.effect, largest_effect_), ink);
      draw_number(theme, kChance, chance_text(node), ink);
      draw_number(theme, kSamples,
                  (node.a == trace::kNone ? "-" : count_text(node.count_a)) + " | " + (node.b == trace::kNone ? "-" : count_text(node.count_b)),
                  theme.ink_soft);
      ImGui::PopFont();
      draw_cell(theme, kLabel, label_of(*result, node), theme.ink_soft);
    }
  }
  ImGui::EndTable();
}

}  // namespace reprise::viewer
