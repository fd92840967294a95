#include "panels/memory/memory_colours.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "panels/widgets/format.hpp"
#include "panels/widgets/widgets.hpp"

namespace reprise::viewer {

using trace::kNone;

namespace {

constexpr std::size_t kMaxRows = 14;  // of a legend

ImU32 label_colour(const Theme& theme, const model::Graph& graph, std::uint32_t label) {
  const std::uint32_t rgb = graph.record().labels[label].color;
  return rgb != 0     ? IM_COL32(rgb >> 16 & 255, rgb >> 8 & 255, rgb & 255, 255)
         : label == 0 ? theme.node
                      : category(theme, label);
}

// Position of a size on a logarithmic scale, 0 to 1.
float size_fraction(const MemoryViewModel& view_model, std::uint64_t bytes) {
  const double min_size = std::log2(std::max<double>(1, static_cast<double>(view_model.min_bytes)));
  const double max_size = std::log2(std::max<double>(1, static_cast<double>(view_model.max_bytes)));
  if (!(max_size > min_size)) return 0.5f;
  return static_cast<float>(
      (std::log2(std::max<double>(1, static_cast<double>(bytes))) - min_size) /
      (max_size - min_size));
}

}  // namespace

ImU32 memory_colour(const Theme& theme, const MemoryViewModel& view_model, MemoryColour by,
                    std::uint32_t buffer) {
  const trace::Node& first = view_model.graph->record().nodes[view_model.first_node[buffer]];
  switch (by) {
    case MemoryColour::Buffer: return distinct_colour(theme, view_model.span[buffer]);
    case MemoryColour::Label: return label_colour(theme, *view_model.graph, first.label);
    case MemoryColour::AliasGroup:
      return view_model.group[buffer] == kNone ? theme.node
                                               : category(theme, view_model.group[buffer]);
    case MemoryColour::Size:
      return heat(size_fraction(view_model, view_model.use.spans[view_model.span[buffer]].bytes));
    case MemoryColour::FirstKind: return kind_colour(theme, first.kind);
  }
  return theme.node;
}

float draw_memory_legend(const Theme& theme, const MemoryViewModel& view_model, MemoryColour by,
                         ImVec2 at, float width) {
  if (by == MemoryColour::Size) {
    return draw_heat_legend(theme, at, width, "buffer size (log scale)",
                            bytes_text(view_model.min_bytes), bytes_text(view_model.max_bytes));
  }
  struct Part {
    std::uint64_t bytes = 0;
    std::uint32_t buffer = 0;  // one of them
  };
  using Row = std::pair<std::uint32_t, Part>;
  std::vector<Row> rows;
  std::map<std::uint32_t, Part> parts;
  for (const model::BufferSpan& span : view_model.use.spans) {
    const trace::Node& first = view_model.graph->record().nodes[view_model.first_node[span.buffer]];
    std::uint32_t key = first.label;
    if (by == MemoryColour::Buffer) {  // as many as spans: no map, in each frame
      rows.push_back({span.buffer, {span.bytes, span.buffer}});
      continue;
    }
    if (by == MemoryColour::AliasGroup) key = view_model.group[span.buffer];
    if (by == MemoryColour::FirstKind) key = static_cast<std::uint32_t>(first.kind);
    Part& part = parts[key];
    part.bytes += span.bytes;
    part.buffer = span.buffer;
  }
  const auto name = [&](std::uint32_t key) -> std::string {
    if (by == MemoryColour::Buffer) return view_model.graph->buffer_name(key);
    if (by == MemoryColour::FirstKind) return kind_name(static_cast<trace::NodeKind>(key));
    if (by == MemoryColour::Label)
      return key == 0 ? "(no label)" : view_model.graph->label_path(key);
    return key == kNone ? "not shared" : "group " + count_text(key + 1);
  };
  rows.insert(rows.end(), parts.begin(), parts.end());
  const std::size_t shown = std::min(rows.size(), kMaxRows);
  std::partial_sort(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(shown), rows.end(),
                    [](const Row& a, const Row& b) {
                      return a.second.bytes != b.second.bytes ? a.second.bytes > b.second.bytes
                                                              : a.first < b.first;
                    });
  ImFont* font = theme.small ? theme.small : ImGui::GetFont();
  const auto fit_text = [&](const std::string& whole, const std::string& bytes) {
    std::size_t length = std::min<std::size_t>(whole.size(), 60);
    const auto text = [&] { return shortened(whole, length) + "  " + bytes; };
    const float available = width - font->FontSize * 1.4f;
    while (length > 6 &&
           font->CalcTextSizeA(font->FontSize, FLT_MAX, 0, text().c_str()).x > available)
      --length;
    return text();
  };
  std::vector<LegendItem> items;
  for (std::size_t i = 0; i < shown; ++i) {
    items.push_back({memory_colour(theme, view_model, by, rows[i].second.buffer),
                     fit_text(name(rows[i].first), bytes_text(rows[i].second.bytes))});
  }
  if (rows.size() > kMaxRows)
    items.push_back({theme.ink_faint, "+" + count_text(rows.size() - kMaxRows) + " more"});
  const char* title = by == MemoryColour::Buffer       ? "buffer"
                      : by == MemoryColour::Label      ? "label of first use"
                      : by == MemoryColour::AliasGroup ? "alias group"
                                                       : "kind of first use";
  return draw_legend(theme, at, title, items);
}

}  // namespace reprise::viewer
