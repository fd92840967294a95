#include "panels/timeline/timeline_draw_context.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstddef>

namespace reprise::viewer {

using trace::Replay;
using trace::Time;

namespace {

constexpr std::size_t kMaxInFlight = 16;  // maximum number of replays in flight

// First known time of a replay; 0: unknown.
Time first_time(const Replay& replay) {
  return replay.launched != 0 ? replay.launched : replay.started;
}
Time last_time(const Replay& replay) {
  return std::max({replay.ended, replay.launch_returned, first_time(replay)});
}

}  // namespace

TimelineBox box_of(const TimelineDrawContext& dc, const TimelineRow& row, double started,
                   double ended) {
  const float min_x = dc.canvas.min().x - 2, max_x = dc.canvas.max().x + 2;
  const float left = std::clamp(dc.canvas.to_screen(started, 0).x, min_x, max_x);
  const float right = std::clamp(dc.canvas.to_screen(ended, 0).x, min_x, max_x);
  const float top = dc.top + row.top;
  return {{left, top}, {std::max(right, left + 2), top + row.height}};
}

bool is_below_mouse(const TimelineDrawContext& dc, const TimelineBox& box) {
  if (!dc.canvas.is_hovered()) return false;
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const float reach = box.width() < 5 ? 2.0f : 0.0f;
  return mouse.y >= dc.rows_top && mouse.x >= box.min.x - reach && mouse.x < box.max.x + reach &&
         mouse.y >= box.min.y && mouse.y < box.max.y;
}

TimelineSpan column_below_mouse(const TimelineDrawContext& dc) {
  const float x = std::floor(ImGui::GetIO().MousePos.x);
  const Time from = dc.time_of(dc.canvas.x_of(x)), to = dc.time_of(dc.canvas.x_of(x + 1));
  return {from, std::max(to, from + 1)};
}

std::string cut_text(const ImFont* font, const std::string& text, float width) {
  constexpr const char* kEllipsis = "..";
  constexpr std::ptrdiff_t kMinBytes = 2;
  const float size = font->FontSize;
  const char *const begin = text.c_str(), *const end = begin + text.size(), *rest = nullptr;
  if (font->CalcTextSizeA(size, FLT_MAX, 0, begin, end).x <= width) return text;
  font->CalcTextSizeA(size, width - font->CalcTextSizeA(size, FLT_MAX, 0, kEllipsis).x, 0, begin,
                      end, &rest);
  return rest - begin < kMinBytes ? "" : std::string(begin, rest) + kEllipsis;
}

void draw_text_in(const TimelineDrawContext& dc, const TimelineBox& box, const std::string& text,
                  ImU32 colour) {
  const Theme& theme = dc.context.theme;
  const ImFont* const font = theme.small;
  const float size = font->FontSize, pad = 4 * theme.scale;
  // Text of a box that starts left of the canvas starts at the canvas border.
  const float left = std::max(box.min.x, dc.canvas.min().x) + pad,
              right = std::min(box.max.x, dc.canvas.max().x) - pad / 2;
  const std::string fitting = right - left < size * 1.7f ? "" : cut_text(font, text, right - left);
  if (fitting.empty()) return;
  const ImVec4 clip{left, box.min.y, right, box.max.y};
  ImGui::GetWindowDrawList()->AddText(font, size,
                                      {left, std::floor((box.min.y + box.max.y - size) / 2)},
                                      colour, fitting.c_str(), nullptr, 0, &clip);
}

void draw_timeline_box(const TimelineDrawContext& dc, const TimelineBox& box, ImU32 fill,
                       const std::string& text) {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float round = box.width() > 8 ? 2 * dc.context.theme.scale : 0;
  const ImVec2 max{box.max.x - (box.width() > 5 ? 1.0f : 0.0f), box.max.y};
  list.AddRectFilled(box.min, max, fill, round);
  if (is_below_mouse(dc, box))
    list.AddRectFilled(box.min, max, with_alpha(dc.context.theme.ink, 0.22f), round);
  draw_text_in(dc, box, text, ink_on(fill));
}

void draw_hint(const Theme& theme, const std::string& text) {
  ImGui::PushStyleColor(ImGuiCol_Text, theme.ink_soft);
  ImGui::TextUnformatted(text.c_str());
  ImGui::PopStyleColor();
}

ImU32 muted(const Theme& theme, ImU32 colour, float amount) {
  const ImVec4 a = ImGui::ColorConvertU32ToFloat4(theme.panel),
               b = ImGui::ColorConvertU32ToFloat4(colour);
  return ImGui::ColorConvertFloat4ToU32(
      {a.x + (b.x - a.x) * amount, a.y + (b.y - a.y) * amount, a.z + (b.z - a.z) * amount, 1});
}

const model::Graph* graph_of(const TimelineDrawContext& dc, const TimelineScene& scene) {
  const model::GraphEntry* const entry =
      dc.context.document->find({scene.replay.graph, scene.replay.version});
  return entry == nullptr ? nullptr : entry->graph.get();
}

bool is_like_shown(const PanelContext& context, model::GraphKey graph) {
  const model::GraphEntry* const entry = context.document->find(graph);
  return entry != nullptr && context.entry != nullptr &&
         entry->graph->topology() == context.entry->graph->topology();
}

std::string host_range_at(const HostRows& host, std::uint32_t thread, Time at) {
  std::string name;
  for (auto row = host.rows.lower_bound({thread, std::uint16_t{0}});
       row != host.rows.end() && row->first.first == thread; ++row) {
    const auto& spans = row->second.spans;
    const std::size_t after =
        spans.lower_bound(at, [](const HostSpan& s, Time t) { return s.started <= t; });
    if (after == 0 || spans[after - 1].ended < at) break;
    name = host.ranges[spans[after - 1].range].name;
  }
  return name;
}

std::pair<std::size_t, std::size_t> replays_between(const model::ListView<Replay>& replays,
                                                    Time from, Time to) {
  // Time of a replay; a replay without times takes that of the next replay that has one.
  const auto when = [&](std::size_t index) {
    for (std::size_t i = index; i < std::min(index + kMaxInFlight, replays.size()); ++i) {
      if (first_time(replays[i]) != 0) return first_time(replays[i]);
    }
    return to;
  };
  const auto first_from = [&](Time time) {
    std::size_t low = 0, high = replays.size();
    while (low < high) {
      const std::size_t middle = low + (high - low) / 2;
      if (when(middle) < time) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  };
  std::size_t first = first_from(from);
  const std::size_t end = first_from(to);
  for (std::size_t back = 0; back < 4096 && first > 0; ++back) {
    // Replays in flight at `from` are among the kMaxInFlight preceding ones.
    bool any = false;
    for (std::size_t i = first; i-- > 0 && first - i <= kMaxInFlight;)
      any = any || last_time(replays[i]) >= from;
    if (!any) break;
    --first;
  }
  return {first, std::max(first, end)};
}

model::Selection item_of(const PanelContext& context, const TimelineHit& hit) {
  if (const auto* const node = std::get_if<NodeHit>(&hit)) {
    const trace::Replay& of = node->scene->replay;
    return model::SelectedNode{{of.graph, of.version}, node->item->node};
  }
  if (const auto* const gap = std::get_if<GapHit>(&hit))
    return model::SelectedNode{context.view.graph, gap->gap->node};
  if (const auto* const replay = std::get_if<ReplayHit>(&hit))
    return model::SelectedReplay{replay->graph, replay->replay.replay};
  return {};
}

}  // namespace reprise::viewer
