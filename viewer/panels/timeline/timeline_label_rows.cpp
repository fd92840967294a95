#include <algorithm>

#include "panels/timeline/timeline_nodes.hpp"
#include "panels/widgets/format.hpp"

namespace reprise::viewer {

namespace {

ImU32 label_row_colour(const Theme& theme, const model::Graph& graph, std::uint32_t label) {
  if (const std::uint32_t own = graph.record().labels[label].color; own != 0) {
    return muted(theme, IM_COL32((own >> 16) & 0xff, (own >> 8) & 0xff, own & 0xff, 255), 0.7f);
  }
  // Labels with the same name have the same colour.
  std::uint32_t number = 0;
  for (const char c : graph.record().strings[graph.record().labels[label].name])
    number = number * 31 + static_cast<unsigned char>(c);
  return muted(theme, category(theme, number % 7), 0.42f);
}

}  // namespace

void draw_timeline_labels_of(TimelineDrawContext& dc, const TimelineScene& scene) {
  const CanvasBounds bounds = dc.canvas.visible_area();
  const model::Graph& graph = *dc.context.graph();
  for (auto first = scene.labels.begin(); first != scene.labels.end();) {
    const std::uint32_t level = first->row;
    const auto end = std::find_if(first, scene.labels.end(),
                                  [&](const TimelineLabel& l) { return l.row != level; });
    const TimelineRow* const row = dc.layout.find(TimelineRow::Kind::Labels, 0, level, graph.key());
    if (row != nullptr && dc.is_visible(*row)) {
      const std::span<const TimelineLabel> labels(first, end);
      const auto low = std::partition_point(labels.begin(), labels.end(), [&](const auto& l) {
        return dc.plane_of(l.ended) < bounds.left;
      });
      const auto high = std::partition_point(
          low, labels.end(), [&](const auto& l) { return dc.plane_of(l.started) <= bounds.right; });
      const auto blocks = merged_blocks(
          static_cast<std::size_t>(low - labels.begin()),
          static_cast<std::size_t>(high - labels.begin()), 1 / dc.canvas.zoom_x(),
          [&](std::size_t i) {
            return TimelineExtent{dc.plane_of(labels[i].started), dc.plane_of(labels[i].ended)};
          });
      for (const TimelineBlock& block : blocks) {
        const TimelineLabel& label = labels[block.first];
        const TimelineBox box = box_of(dc, *row, block.started, block.ended);
        const std::string& name = graph.record().strings[graph.record().labels[label.label].name];
        draw_timeline_box(dc, box, label_row_colour(dc.context.theme, graph, label.label),
                          block.count() == 1 ? name : count_text(block.count()) + " labels");
        if (is_below_mouse(dc, box)) dc.hit = LabelHit{label, block.count()};
      }
    }
    first = end;
  }
}

}  // namespace reprise::viewer
