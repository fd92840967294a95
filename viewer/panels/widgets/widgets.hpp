// Small stateless widgets and display names that several panels share. Threads: drawing thread
// only.
#pragma once

#include <span>
#include <string>

#include "panels/shared/panel_context.hpp"
#include "trace/record_names.hpp"

namespace reprise::viewer {

// Placeholder for a panel without content, centred in the remaining area: the state, and a hint on
// how to change it.
void draw_empty(const Theme& theme, const std::string& message, const std::string& hint = {});
// Placeholder with a progress animation while content is being computed.
void draw_busy(const Theme& theme, const std::string& message);

// Right-aligned text in the current column or window.
void text_right(const std::string& text, ImU32 colour);
// Text that ends in an ellipsis if it is wider than the current column or window. Returns true if
// it is; a tooltip then shows it whole.
bool text_ellipsis(const std::string& text, ImU32 colour);
// A label and its value on one line. The value starts at x position `value_x` of the window.
void draw_field(const Theme& theme, const char* label, const std::string& value, float value_x);
// A tooltip for the preceding item, shown after a short delay.
void tooltip(const std::string& text);

// Like ImGui::BeginCombo(), with the theme's preview text and arrow. If it returns true, end it
// with ImGui::EndCombo().
[[nodiscard]] bool begin_combo(const Theme& theme, const char* id, const std::string& chosen,
                               float width);

// A colour bar of the heat map with a title and its min and max; returns its height. `middle` is
// the value at the centre of the bar, for non-linear scales.
float draw_heat_legend(const Theme& theme, ImVec2 at, float width, const std::string& title,
                       const std::string& min, const std::string& max,
                       const std::string& middle = {});
struct LegendItem {
  ImU32 colour = 0;
  std::string text;
};
// A column of swatches with names; returns its height.
float draw_legend(const Theme& theme, ImVec2 at, const std::string& title,
                  std::span<const LegendItem> items);

// The colour of a node according to ViewState::colour_by, and the legend. While
// PanelContext::view_model is null, colourings that need times use Theme::node.
[[nodiscard]] ImU32 node_colour(const PanelContext& context, std::uint32_t node);
float draw_colour_legend(const PanelContext& context, ImVec2 at, float width);
// The colour of a node by its kind, whatever ViewState::colour_by is.
[[nodiscard]] ImU32 kind_colour(const Theme& theme, const model::Graph& graph, std::uint32_t node);
// Combo box for ViewState::colour_by.
void draw_colour_combo(PanelContext& context);
[[nodiscard]] const char* colour_name(ColourBy by);

// Why an edge exists, "linear order"; "read after write"; what timed a sample, "host clock". The
// names in trace/record_names.hpp are those of files.
[[nodiscard]] const char* cause_text(trace::EdgeCause cause);
[[nodiscard]] const char* hazard_text(trace::Hazard hazard);
[[nodiscard]] const char* source_text(trace::SampleSource source);
// "hazard: read after write on x [0, 4096)", "lane", "barrier at step.cpp:12 on y".
[[nodiscard]] std::string edge_reason(const model::Graph& graph, std::uint32_t edge);
// Source location "step.cpp:12"; empty if unknown.
[[nodiscard]] std::string source_location_text(const model::Graph& graph, std::uint32_t file,
                                               std::uint32_t line);
// The whole name of a node's kernel; empty if it has none or its short name is whole.
[[nodiscard]] std::string whole_kernel_text(const model::Graph& graph, std::uint32_t node);

}  // namespace reprise::viewer
