// TimelineDrawContext: inputs of the functions that draw a timeline, and the object under the
// mouse. The plane's unit is 1 ns; 0 is a fixed time near the start of the recording. Threads: the
// drawing thread's.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "panels/shared/panel_context.hpp"
#include "panels/timeline/timeline_host.hpp"
#include "panels/timeline/timeline_layout.hpp"
#include "panels/timeline/timeline_merge.hpp"
#include "panels/widgets/canvas.hpp"

namespace reprise::viewer {

struct TimelineSpan {
  trace::Time started = 0, ended = 0;
  [[nodiscard]] double length() const { return static_cast<double>(ended - started); }
};

// Objects under the mouse.
// Items that are too narrow to draw each.
struct BlockHit {
  const char* items = "";  // "replays"
  std::size_t count = 0;
  TimelineSpan span = {}, here = {};    // of the block; of the pixel column under the mouse
  trace::Time busy = 0, busy_here = 0;  // in these
  const char* busy_name = "busy";
  std::vector<std::pair<std::string, std::string>> fields = {};  // name and value
};
struct NodeHit {
  const TimelineScene* scene = nullptr;
  const model::TimelineItem* item = nullptr;  // of a block: the longest one
  BlockHit block = {};                        // no items: a single node
};
struct GapHit {
  const TimelineScene* scene = nullptr;
  const model::Gap* gap = nullptr;
};
struct ReplayHit {
  enum class Kind : std::uint8_t { Device, Launch };
  Kind kind = Kind::Device;
  model::GraphKey graph;
  trace::Replay replay;
};
struct IdleHit {
  model::IdleGap gap;
};
struct RangeHit {
  trace::HostRange range;
};
struct LabelHit {
  TimelineLabel label;
};
struct ActiveHit {  // the row of active lanes or workers
  const TimelineScene* scene = nullptr;
  TimelineSpan here;  // the pixel column under the mouse
};
using TimelineHit = std::variant<std::monostate, BlockHit, NodeHit, GapHit, ReplayHit, IdleHit,
                                 RangeHit, LabelHit, ActiveHit>;

// Options set by the user.
struct TimelineOptions {
  model::RowsBy by = model::RowsBy::Lane;
  bool is_by_chosen = false;  // the user chose `by`; otherwise lanes if a graph has several
  bool predecessor = true, false_dependency = true, bubble = true;  // visible gap kinds
  bool gap_list = false;
  RowOrder order = RowOrder::Name;
};

struct TimelineDrawContext {
  PanelContext& context;
  const Canvas& canvas;
  const TimelineLayout& layout;
  const TimelineOptions& options;
  const HostRows& host;
  const TimelineRanks& ranks;
  const model::AwaitedArrivals& arrivals;  // at the collectives of the shown replay
  trace::Time origin = 0;
  trace::Time zero = 0;  // of the axis: the start of the shown replay or of the recording
  const char* zero_name = "recording start";
  float top = 0;         // screen y of the top of the layout
  float rows_top = 0;    // screen y of the bottom of the ruler
  TimelineHit hit = {};  // set by the draw functions

  [[nodiscard]] double plane_of(trace::Time time) const {
    return static_cast<double>(time - origin);
  }
  [[nodiscard]] trace::Time time_of(double plane) const {
    return origin + static_cast<trace::Time>(plane);
  }
  [[nodiscard]] float x_of(trace::Time time) const { return canvas.to_screen(plane_of(time), 0).x; }
  [[nodiscard]] float unit() const { return static_cast<float>(1 / canvas.zoom_x()); }
  [[nodiscard]] bool is_visible(const TimelineRow& row) const {
    return top + row.top + row.height >= rows_top && top + row.top <= canvas.max().y;
  }
};

// A rectangle in a row in screen coordinates, clipped to the canvas, with a minimum width.
struct TimelineBox {
  ImVec2 min{0, 0}, max{0, 0};
  [[nodiscard]] float width() const { return max.x - min.x; }
};
[[nodiscard]] TimelineBox box_of(const TimelineDrawContext& dc, const TimelineRow& row,
                                 double started, double ended);
[[nodiscard]] bool is_below_mouse(const TimelineDrawContext& dc, const TimelineBox& box);
// The time of the pixel column under the mouse.
[[nodiscard]] TimelineSpan column_below_mouse(const TimelineDrawContext& dc);
// The text, or its start and an ellipsis, in at most `width`; empty if fewer than two characters
// fit.
[[nodiscard]] std::string cut_text(const ImFont* font, const std::string& text, float width);
// Draws text cut to the box.
void draw_text_in(const TimelineDrawContext& dc, const TimelineBox& box, const std::string& text,
                  ImU32 colour);
// Draws a box with its text, highlighted while hovered.
void draw_timeline_box(const TimelineDrawContext& dc, const TimelineBox& box, ImU32 fill,
                       const std::string& text);
// A line of secondary text, as an ImGui item.
void draw_hint(const Theme& theme, const std::string& text);
// Blends the panel colour (amount 0) with `colour` (amount 1); opaque.
[[nodiscard]] ImU32 muted(const Theme& theme, ImU32 colour, float amount);
// The graph of a scene; null if the document lacks it.
[[nodiscard]] const model::Graph* graph_of(const TimelineDrawContext& dc,
                                           const TimelineScene& scene);
// Whether a graph has the topology of the shown one.
[[nodiscard]] bool is_like_shown(const PanelContext& context, model::GraphKey graph);
// The name of the innermost host range of a thread at a time; empty if there is none.
[[nodiscard]] std::string host_range_at(const HostRows& host, std::uint32_t thread, trace::Time at);
// The half-open index range of replays that overlap [from, to].
[[nodiscard]] std::pair<std::size_t, std::size_t> replays_between(
    const model::ListView<trace::Replay>& replays, trace::Time from, trace::Time to);

// The node or replay of a hit; empty: none.
[[nodiscard]] model::Selection item_of(const PanelContext& context, const TimelineHit& hit);
// Draws the tooltip for TimelineDrawContext::hit.
void draw_timeline_tooltip(const TimelineDrawContext& dc);

}  // namespace reprise::viewer
