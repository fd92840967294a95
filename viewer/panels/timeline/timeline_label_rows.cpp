#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "panels/timeline/timeline_density.hpp"
#include "panels/timeline/timeline_nodes.hpp"
#include "panels/widgets/format.hpp"

namespace reprise::viewer {

namespace {

// Labels of the same name have the same colour; others differ until the colours repeat.
std::vector<ImU32> label_colours(const Theme& theme, const model::Graph& graph) {
  std::vector<ImU32> colours;
  std::unordered_map<std::string_view, std::uint32_t> numbers;
  for (const trace::Label& label : graph.record().labels) {
    if (const std::uint32_t own = label.color; own != 0) {
      colours.push_back(
          muted(theme, IM_COL32((own >> 16) & 0xff, (own >> 8) & 0xff, own & 0xff, 255), 0.85f));
      continue;
    }
    const auto number = static_cast<std::uint32_t>(numbers.size());
    const auto found = numbers.try_emplace(graph.record().strings[label.name], number).first;
    colours.push_back(muted(theme, distinct_colour(theme, found->second), 0.75f));
  }
  return colours;
}

}  // namespace

void draw_timeline_labels_of(TimelineDrawContext& dc, const TimelineScene& scene) {
  const CanvasBounds bounds = dc.canvas.visible_area();
  const model::Graph& graph = *dc.context.graph();
  const std::vector<ImU32> colours = label_colours(dc.context.theme, graph);
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
        if (block.count() == 1) {
          draw_timeline_box(dc, box, colours[label.label],
                            graph.record().strings[graph.record().labels[label.label].name]);
          if (is_below_mouse(dc, box)) dc.hit = LabelHit{label};
          continue;
        }
        model::BusyTime busy;
        for (std::size_t i = block.first; i < block.end; ++i)
          busy.add(labels[i].started, labels[i].ended);
        const TimelineSpan span{label.started, labels[block.end - 1].ended};
        model::BusyTime::Reader reader(busy);
        draw_density(dc, box, [&](trace::Time from, trace::Time to) {
          return DensityColumn{
              {{{busy_share(reader, span, from, to), dc.context.theme.ink_faint}, {}, {}}}};
        });
        if (!is_below_mouse(dc, box)) continue;
        const TimelineSpan here = column_below_mouse(dc);
        dc.hit = BlockHit{"labels",  block.count(), span,
                          here,      busy.total(),  busy.between(here.started, here.ended),
                          "labelled"};
      }
    }
    first = end;
  }
}

}  // namespace reprise::viewer
