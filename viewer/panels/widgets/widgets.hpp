// Small things that several panels draw alike. Each takes the theme; none keeps state of its own.
// Threads: the drawing thread's.
#pragma once

#include <span>
#include <string>

#include "panels/shared/panel_context.hpp"

namespace reprise::viewer {

// What stands in a panel that has nothing to show: what is going on, and what could be done about
// it. In the middle of what is left.
void draw_empty(const Theme& theme, const std::string& what, const std::string& hint = {});
// The same while something is being made.
void draw_busy(const Theme& theme, const std::string& what);

// Right-aligned in the current column or width.
void text_right(const std::string& text, ImU32 colour);
// A label in soft ink and its value, on one line; the value stands at `value_x` of the window.
void draw_field(const Theme& theme, const char* label, const std::string& value, float value_x);
// A tooltip for the item before it, after a short rest of the mouse.
void tooltip(const std::string& text);

// As ImGui::BeginCombo(), with what is chosen and a small sign that it opens; EndCombo() if it
// returns true.
[[nodiscard]] bool begin_combo(const Theme& theme, const char* id, const std::string& chosen,
                               float width);

// A bar of the heat map with its least and greatest value and the name of what is shown, `width`
// wide; returns its height. `middle`: what stands for half way, where that is not plain.
float draw_heat_legend(const Theme& theme, ImVec2 at, float width, const std::string& title,
                       const std::string& least, const std::string& greatest,
                       const std::string& middle = {});
struct LegendItem {
  ImU32 colour = 0;
  std::string text;
};
// Swatches with their names, one below the other; returns the height.
float draw_legend(const Theme& theme, ImVec2 at, const std::string& title,
                  std::span<const LegendItem> items);

// The colour of a node by what the view is set to, and the legend that explains it. `facts` may be
// null: nodes are plain then, where a colour would need a time.
[[nodiscard]] ImU32 node_colour(const PanelContext& context, std::uint32_t node);
float draw_colour_legend(const PanelContext& context, ImVec2 at, float width);

// Names for people: "dispatch", "read after write", "lane".
[[nodiscard]] const char* kind_name(trace::NodeKind kind);
[[nodiscard]] const char* cause_name(trace::EdgeCause cause);
[[nodiscard]] const char* hazard_name(trace::Hazard hazard);
[[nodiscard]] const char* source_name(trace::SampleSource source);
[[nodiscard]] const char* buffer_kind_name(trace::BufferKind kind);
[[nodiscard]] const char* loss_name(trace::LossKind kind);  // of what was lost, many of them
// "hazard: read after write on x [0, 4096)", "lane", "barrier at step.cpp:12 on y".
[[nodiscard]] std::string edge_reason(const model::Graph& graph, std::uint32_t edge);
// "step.cpp:12"; empty where it is unknown.
[[nodiscard]] std::string place_text(const model::Graph& graph, std::uint32_t file,
                                     std::uint32_t line);

}  // namespace reprise::viewer
