#include "panels/memory/memory_side.hpp"

#include <algorithm>
#include <string>

#include "panels/memory/memory_map.hpp"
#include "panels/widgets/format.hpp"
#include "panels/widgets/table_columns.hpp"
#include "panels/widgets/widgets.hpp"

namespace reprise::viewer {

using trace::kNone;
using trace::Time;

namespace {

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
  stat_line(theme, "naive", bytes_text(use.naive_bytes), "Size of all transients without sharing.");
  stat_line(theme, "slab", bytes_text(use.slab_bytes), "Memory allocated for the transients.");
  stat_line(theme, "saved",
            bytes_text(view_model.saved_bytes) + ", " +
                percent_text(fraction(view_model.saved_bytes, use.naive_bytes)),
            "Bytes saved by sharing: naive minus slab.");
  stat_line(theme, "bound", bytes_text(view_model.graph->record().lower_bound_bytes),
            "Lower bound of any placement: buffers of unordered nodes cannot share bytes.");
  stat_line(theme, "peak", bytes_text(use.peak_bytes),
            view_model.is_measured ? "Maximum live bytes in this replay."
                                   : "Maximum live bytes if the nodes run one after another.");
  const std::uint64_t bound = view_model.graph->record().lower_bound_bytes;
  stat_line(
      theme, "waste",
      bytes_text(use.waste_bytes) + ", " + percent_text(fraction(use.waste_bytes, use.slab_bytes)),
      "Slab bytes that are not live at the peak. The next two values explain them.");
  if (bound >= use.peak_bytes && use.slab_bytes >= bound) {
    stat_line(
        theme, "   concurrency", bytes_text(bound - use.peak_bytes),
        "Bound minus peak: buffers of unordered nodes need separate bytes even if they are "
        "not live at the same time here. Fewer lanes or an edge between such nodes allow sharing.");
    stat_line(theme, "   fragmentation", bytes_text(use.slab_bytes - bound),
              "Slab minus bound: gaps between buffers of different sizes, and alignment.");
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
  ImGui::TextUnformatted(cursor ? "Live at" : "Live at peak,");
  ImGui::SameLine(0, ImGui::CalcTextSize(" ").x);
  soft_text(theme, position_text(view_model, cursor.value_or(view_model.use.peak_at)));
  soft_text(theme, bytes_text(live_.bytes) + " in " + count_text(live_.buffers.size()) +
                       (live_.buffers.size() == 1 ? " buffer" : " buffers"));
  if (cursor) {
    ImGui::SameLine();
    if (link(theme, "show peak")) cursor.reset();
  } else {
    tooltip("Click the curve to list the buffers live at another time.");
  }
  draw_list(context, content);
  ImGui::PopStyleVar();
  return cursor;
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
  const MemoryViewModel& view_model = *content.view_model;
  const model::GraphKey key = view_model.graph->key();
  constexpr ImGuiTableFlags kFlags =
      ImGuiTableFlags_ScrollY | ImGuiTableFlags_RowBg | ImGuiTableFlags_BordersInnerV;
  if (!ImGui::BeginTable("live", 3, kFlags)) return;
  const float character = ImGui::CalcTextSize("0").x;
  ImGui::TableSetupColumn("buffer", ImGuiTableColumnFlags_WidthStretch);
  ImGui::TableSetupColumn("bytes", ImGuiTableColumnFlags_WidthFixed, 8 * character);
  ImGui::TableSetupColumn("share", ImGuiTableColumnFlags_WidthFixed, 7 * character);
  ImGuiListClipper clipper;
  clipper.Begin(static_cast<int>(live_.buffers.size()), row_height());
  while (clipper.Step()) {
    for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
      const std::uint32_t b = live_.buffers[static_cast<std::size_t>(i)];
      const model::Selection self = model::SelectedBuffer{key, b};
      const bool passes = content.matches.empty() || content.matches[b] != 0;
      const ImU32 ink = passes ? theme.ink : theme.ink_faint;
      const RowInput input =
          begin_row(theme, i,
                    {context.view.selection == self,
                     context.view.hovered == self ||
                         model::selects_buffer(context.view.selection, *view_model.graph, b)});
      if (input.is_clicked) context.view.select(self);
      if (input.is_hovered) context.view.hovered = self;
      const ImVec2 at = ImGui::GetCursorScreenPos();
      const float line = ImGui::GetTextLineHeight(), swatch = line * 0.62f,
                  top = at.y + (line - swatch) / 2;
      ImGui::GetWindowDrawList()->AddRectFilled(
          {at.x, top}, {at.x + swatch, top + swatch},
          with_alpha(memory_colour(theme, view_model, content.colour, b), passes ? 1.0f : 0.4f),
          2 * theme.scale);
      ImGui::SetCursorScreenPos({at.x + swatch + theme.half_space * 1.5f, at.y});
      draw_cell(theme, 0, view_model.graph->buffer_name(b), ink);
      const std::uint64_t bytes = view_model.graph->record().buffers[b].bytes;
      draw_number(theme, 1, bytes_text(bytes), ink);
      draw_number(theme, 2,
                  percent_text(static_cast<double>(bytes) /
                               static_cast<double>(std::max<std::uint64_t>(live_.bytes, 1))),
                  ink);
    }
  }
  ImGui::EndTable();
}

}  // namespace reprise::viewer
