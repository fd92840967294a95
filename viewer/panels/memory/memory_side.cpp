#include "panels/memory/memory_side.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <span>
#include <string>

#include "panels/memory/memory_map.hpp"
#include "panels/widgets/choice.hpp"
#include "panels/widgets/format.hpp"
#include "panels/widgets/item_menu.hpp"
#include "panels/widgets/table_columns.hpp"
#include "panels/widgets/widgets.hpp"

namespace reprise::viewer {

using trace::kNone;
using trace::Time;

namespace {

constexpr TableColumn kLiveColumns[] = {
    {"buffer", "", 3, ColumnAlign::Left},  {"bytes", "", 8, ColumnAlign::Right, "bytes"},
    {"share", "", 7, ColumnAlign::Right},  {"label", "", 2, ColumnAlign::Left},
    {"nodes", "", 10, ColumnAlign::Right},
};
// Characters of the list from which each column is shown; fewer would leave no room for names.
constexpr float kLiveFrom[] = {0, 0, 0, 44, 38};
constexpr TableColumn kBoundColumns[] = {kLiveColumns[0],
                                         kLiveColumns[1],
                                         {"slab", "", 9, ColumnAlign::Right, "bytes"},
                                         kLiveColumns[3],
                                         kLiveColumns[4]};

void soft_text(const Theme& theme, const std::string& text) {
  ImGui::PushStyleColor(ImGuiCol_Text, theme.ink_soft);
  ImGui::PushTextWrapPos(0);
  ImGui::TextUnformatted(text.c_str());
  ImGui::PopTextWrapPos();
  ImGui::PopStyleColor();
}

// Clickable text. Returns true on a click.
bool link(const Theme& theme, const std::string& text) {
  ImGui::PushStyleColor(ImGuiCol_Text, theme.accent);
  ImGui::TextUnformatted(text.c_str());
  ImGui::PopStyleColor();
  const ImVec2 min = ImGui::GetItemRectMin(), max = ImGui::GetItemRectMax();
  if (ImGui::IsItemHovered())
    ImGui::GetWindowDrawList()->AddLine({min.x, max.y}, max, theme.accent);
  return ImGui::IsItemClicked();
}

void stat_line(const Theme& theme, const char* name, const std::string& value,
               const char* explanation) {
  const float width = ImGui::GetContentRegionAvail().x;
  ImGui::BeginGroup();
  const float left = ImGui::GetCursorPosX();
  ImGui::PushStyleColor(ImGuiCol_Text, theme.ink_soft);
  ImGui::TextUnformatted(name);
  ImGui::PopStyleColor();
  ImGui::SameLine(0, 0);
  ImGui::SetCursorPosX(
      std::max(ImGui::GetCursorPosX(), left + width - ImGui::CalcTextSize(value.c_str()).x));
  ImGui::TextUnformatted(value.c_str());
  ImGui::EndGroup();
  tooltip(explanation);
}

std::string nodes_text(std::uint32_t first, std::uint32_t last) {
  return first == last ? count_text(first) : count_text(first) + " to " + count_text(last);
}

}  // namespace

void draw_memory_summary(const Theme& theme, const MemoryViewModel& view_model,
                         MemoryColour colour) {
  const model::MemoryUse& use = view_model.use;
  const auto fraction = [](std::uint64_t of, std::uint64_t whole) {
    return whole == 0 ? 0.0 : static_cast<double>(of) / static_cast<double>(whole);
  };
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {theme.space, theme.half_space * 0.5f});
  stat_line(theme, "transients", count_text(use.spans.size()),
            "Buffers that exist only during a replay. The graph places them in its slab.");
  stat_line(theme, "unshared", bytes_text(use.naive_bytes),
            "Size of all transients without sharing.");
  stat_line(theme, "slab", bytes_text(use.slab_bytes), "Memory allocated for the transients.");
  stat_line(theme, "saved",
            bytes_text(view_model.saved_bytes) + ", " +
                percent_text(fraction(view_model.saved_bytes, use.naive_bytes)),
            "Bytes saved by sharing: unshared minus slab.");
  stat_line(theme, "lower bound", bytes_text(view_model.graph->record().lower_bound_bytes),
            "No placement is smaller: buffers of unordered nodes cannot share bytes.");
  stat_line(theme, "peak", bytes_text(use.peak_bytes),
            view_model.is_measured ? "Maximum live bytes in this replay."
                                   : "Maximum live bytes if the nodes run one after another.");
  const std::uint64_t bound = view_model.graph->record().lower_bound_bytes;
  stat_line(
      theme, "overhead",
      bytes_text(use.waste_bytes) + ", " + percent_text(fraction(use.waste_bytes, use.slab_bytes)),
      "Slab bytes that are not live at the peak. The next two values explain them.");
  if (bound >= use.peak_bytes && use.slab_bytes >= bound) {
    stat_line(
        theme, "   concurrency", bytes_text(bound - use.peak_bytes),
        "Lower bound minus peak: buffers of unordered nodes need separate bytes even if they are "
        "not live at the same time here. Fewer lanes or an edge between such nodes allow sharing.");
    stat_line(theme, "   fragmentation", bytes_text(use.slab_bytes - bound),
              "Slab minus lower bound: gaps between buffers of different sizes, and alignment.");
  }
  ImGui::PopStyleVar();
  ImGui::Dummy({0, theme.half_space});
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  ImGui::Dummy({width, draw_memory_legend(theme, view_model, colour, at, width)});
}

std::optional<Time> MemorySide::draw(PanelContext& context, const Content& content) {
  const Theme& theme = context.theme;
  const MemoryViewModel& view_model = *content.view_model;
  std::optional<Time> cursor = content.cursor;
  update(content);
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {theme.space, theme.half_space * 0.75f});
  const auto* selected = std::get_if<model::SelectedBuffer>(&context.view.selection);
  if (selected && selected->graph == view_model.graph->key() &&
      selected->buffer < view_model.span.size() && view_model.span[selected->buffer] != kNone) {
    draw_buffer(context, view_model, selected->buffer);
    ImGui::Separator();
  }
  if (cursor && cursor != last_cursor_) list_ = MemoryList::Live;
  last_cursor_ = cursor;
  const std::array<ChoiceItem, 2> lists{
      {{cursor ? "Live" : "Live at peak", "Buffers that are live at the peak or at the cursor."},
       {"Lower bound",
        "Buffers of which no two can share bytes: no placement is smaller than their total. "
        "Outlined in the chart."}}};
  list_ = static_cast<MemoryList>(draw_choice(theme, "list", lists, static_cast<int>(list_)));
  if (list_ == MemoryList::Live) {
    cursor = draw_live_heading(theme, content);
  } else {
    draw_bound_heading(theme, content);
  }
  draw_list(context, content);
  ImGui::PopStyleVar();
  return cursor;
}

std::optional<Time> MemorySide::draw_live_heading(const Theme& theme,
                                                  const Content& content) const {
  const MemoryViewModel& view_model = *content.view_model;
  const Time at = content.cursor.value_or(view_model.use.peak_at);
  soft_text(theme, bytes_text(live_.bytes) + " in " + count_text(live_.buffers.size()) +
                       (live_.buffers.size() == 1 ? " buffer at " : " buffers at ") +
                       position_text(view_model, at));
  if (!content.cursor) {
    tooltip("Click the curve to list the buffers live at another time.");
    return std::nullopt;
  }
  return link(theme, "show peak") ? std::nullopt : content.cursor;
}

void MemorySide::draw_bound_heading(const Theme& theme, const Content& content) {
  if (content.bound == nullptr) return soft_text(theme, "Computing the lower bound");
  const model::LowerBound& bound = *content.bound;
  soft_text(theme,
            bytes_text(bound.bytes) + " in " + count_text(bound.items.size()) +
                (bound.items.size() == 1 ? " buffer" : " buffers") +
                (bound.is_exact ? " that cannot share bytes"
                                : " live at the peak; the graph is too large for the bound"));
  const auto best =
      std::max_element(bound.items.begin(), bound.items.end(),
                       [](const auto& a, const auto& b) { return a.saves < b.saves; });
  if (best == bound.items.end() || !bound.is_exact) return;
  if (best->saves == 0)
    return soft_text(theme, "No single buffer lowers it: another set is as large.");
  ImGui::TextWrapped("Shrink or split %s: slab -%s",
                     shortened(content.view_model->graph->buffer_name(best->buffer), 40).c_str(),
                     bytes_text(best->saves).c_str());
  tooltip("The most that this buffer can save: the lower bound without it.");
}

void MemorySide::update(const Content& content) {
  const Time at = content.cursor.value_or(content.view_model->use.peak_at);
  if (live_view_model_ == content.view_model && live_time_ == at) return;
  live_view_model_ = content.view_model;
  live_time_ = at;
  if (content.cursor) {
    live_ = live_at(*content.view_model, at);
  } else {
    live_ = {content.view_model->use.live_at_peak, content.view_model->use.peak_bytes};
  }
}

void MemorySide::draw_buffer(PanelContext& context, const MemoryViewModel& view_model,
                             std::uint32_t buffer) const {
  const Theme& theme = context.theme;
  const model::Graph& graph = *view_model.graph;
  const trace::Buffer& record = graph.record().buffers[buffer];
  const float value = ImGui::GetCursorPosX() + ImGui::CalcTextSize("aliases  ").x;
  ImGui::TextUnformatted(shortened(graph.buffer_name(buffer), 40).c_str());
  tooltip(graph.buffer_name(buffer));
  draw_field(theme, "bytes", bytes_text(record.bytes) + " at offset " + bytes_text(record.offset),
             value);
  const auto uses = graph.uses(buffer);
  draw_field(theme, "live",
             "nodes " + count_text(uses.front().node) + " to " + count_text(uses.back().node) +
                 ", " + count_text(uses.size()) + " uses",
             value);
  const std::vector<std::uint32_t> others = aliasing_buffers(view_model, buffer);
  ImGui::PushStyleColor(ImGuiCol_Text, theme.ink_soft);
  ImGui::TextUnformatted("aliases");
  ImGui::PopStyleColor();
  ImGui::SameLine(value);
  if (others.empty()) return ImGui::TextUnformatted("none");
  constexpr std::size_t kShown = 4;
  for (std::size_t i = 0; i < std::min(others.size(), kShown); ++i) {
    if (i != 0) ImGui::SetCursorPosX(value);
    if (link(theme, shortened(graph.buffer_name(others[i]), 26)))
      context.view.select(model::SelectedBuffer{graph.key(), others[i]});
    if (ImGui::IsItemHovered())
      context.view.hovered = model::SelectedBuffer{graph.key(), others[i]};
  }
  if (others.size() > kShown) {
    ImGui::SetCursorPosX(value);
    soft_text(theme, "+" + count_text(others.size() - kShown) + " more");
    std::string names;
    for (const std::uint32_t o : others)
      names += (names.empty() ? "" : ", ") + graph.buffer_name(o);
    tooltip(shortened(names, 600));
  }
}

void MemorySide::draw_list(PanelContext& context, const Content& content) {
  const Theme& theme = context.theme;
  const model::Graph& graph = *content.view_model->graph;
  const bool is_bound = list_ == MemoryList::Bound;
  if (is_bound && content.bound == nullptr) return;
  constexpr ImGuiTableFlags kFlags = ImGuiTableFlags_ScrollY | ImGuiTableFlags_RowBg |
                                     ImGuiTableFlags_BordersInnerV | ImGuiTableFlags_Resizable;
  if (!ImGui::BeginTable("live", static_cast<int>(std::size(kLiveColumns)), kFlags)) return;
  draw_table_menu(context.view);
  const float character = ImGui::CalcTextSize("0").x;
  ImGui::TableSetupScrollFreeze(0, 1);
  const std::span<const TableColumn> columns = is_bound ? kBoundColumns : kLiveColumns;
  const float room = ImGui::GetContentRegionAvail().x / character;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const TableColumn& column = columns[i];
    const bool is_number = column.align == ColumnAlign::Right, fits = room >= kLiveFrom[i];
    ImGui::TableSetupColumn(
        column.name,
        (is_number ? ImGuiTableColumnFlags_WidthFixed : ImGuiTableColumnFlags_WidthStretch) |
            (fits ? ImGuiTableColumnFlags_None : ImGuiTableColumnFlags_Disabled),
        is_number ? column.characters * character : column.characters);
  }
  ImGui::TableHeadersRow();
  const TableContents contents{
      .name = is_bound ? "lower-bound" : "live-buffers",
      .columns = columns,
      .rows = is_bound ? content.bound->items.size() : live_.buffers.size(),
      .cell = [&](std::size_t row, std::size_t column) {
        return list_cell(theme, content, row, column);
      }};
  ImGuiListClipper clipper;
  clipper.Begin(static_cast<int>(contents.rows), row_height());
  while (clipper.Step()) {
    for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
      const auto row = static_cast<std::size_t>(i);
      const std::uint32_t b = buffer_of(content, row);
      const model::Selection self = model::SelectedBuffer{graph.key(), b};
      const RowInput input =
          begin_row(theme, i,
                    {context.view.selection == self,
                     context.view.hovered == self ||
                         model::selects_buffer(context.view.selection, graph, b)});
      if (input.is_clicked) context.view.select(self);
      if (input.is_hovered) context.view.hovered = self;
      draw_row_menu(context, self, row);
      draw_cells(theme, contents, row);
    }
  }
  end_table(context.view, contents);
}

std::uint32_t MemorySide::buffer_of(const Content& content, std::size_t row) const {
  return list_ == MemoryList::Bound ? content.bound->items[row].buffer : live_.buffers[row];
}

TableCell MemorySide::list_cell(const Theme& theme, const Content& content, std::size_t row,
                                std::size_t column) const {
  const MemoryViewModel& view_model = *content.view_model;
  const model::Graph& graph = *view_model.graph;
  const std::uint32_t b = buffer_of(content, row);
  const bool passes = content.matches.empty() || content.matches[b] != 0;
  const ImU32 ink = passes ? theme.ink : theme.ink_faint;
  const std::uint64_t bytes = graph.record().buffers[b].bytes;
  const auto uses = graph.uses(b);
  switch (column) {
    case 0:
      return {.text = graph.buffer_name(b),
              .colour = ink,
              .swatch = with_alpha(memory_colour(theme, view_model, content.colour, b),
                                   passes ? 1.0f : 0.4f)};
    case 1: return bytes_cell(bytes, ink);
    case 2: {
      if (list_ == MemoryList::Live)
        return percent_cell(static_cast<double>(bytes) /
                                static_cast<double>(std::max<std::uint64_t>(live_.bytes, 1)),
                            ink);
      const model::LowerBound::Item& item = content.bound->items[row];
      if (!item.is_known) return {};
      return {.text = item.saves == 0 ? "0" : "-" + bytes_text(item.saves),
              .colour = ink,
              .number = item.saves == 0 ? 0 : -static_cast<double>(item.saves)};
    }
    case 3:
      return {.text = graph.label_path(graph.record().nodes[uses.front().node].label),
              .colour = ink};
    default: return {.text = nodes_text(uses.front().node, uses.back().node), .colour = ink};
  }
}

}  // namespace reprise::viewer
