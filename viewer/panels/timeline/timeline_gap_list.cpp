#include "panels/timeline/timeline_gap_list.hpp"

#include <algorithm>
#include <utility>

#include "panels/timeline/timeline_host_rows.hpp"
#include "panels/timeline/timeline_nodes.hpp"
#include "panels/widgets/format.hpp"
#include "panels/widgets/row_order.hpp"
#include "panels/widgets/table_columns.hpp"
#include "panels/widgets/widgets.hpp"

namespace reprise::viewer {

using trace::Time;

namespace {

enum class GapColumn { Length, Cause, Before, Where, Start };

struct GapText {
  ImU32 colour = 0;
  std::string cause, where, before;
};

GapText gap_row_text(const TimelineDrawContext& dc, const TimelineScene* scene,
                     const ListedGap& listed) {
  const Theme& theme = dc.context.theme;
  if (const auto* idle = std::get_if<model::IdleGap>(&listed.gap)) {
    const auto& devices = *dc.context.document->devices;
    const auto device = devices.find(listed.device);
    const model::GraphEntry* const entry = dc.context.document->find(idle->graph);
    GapText text{
        idle_colour(theme, idle->cause), idle_name(idle->cause),
        device == devices.end() || devices.size() == 1 ? "device" : device->second.name,
        (entry == nullptr ? "graph " + std::to_string(idle->graph.graph) : entry->graph->name()) +
            " " + count_text(idle->replay)};
    const std::string range =
        host_range_at(dc.host, idle->thread, listed.started + (listed.ended - listed.started) / 2);
    if (idle->cause == model::IdleCause::Host && !range.empty()) text.cause += ": host in " + range;
    return text;
  }
  const auto& gap = std::get<model::Gap>(listed.gap);
  const model::Graph* const graph = scene == nullptr ? nullptr : graph_of(dc, *scene);
  if (graph == nullptr) return {};
  const model::TimelineRow& row = scene->rows.rows[gap.row];
  GapText text{gap_colour(theme, gap.kind), gap_name(gap.kind),
               model::row_group_name(dc.options.by, scene->block->source, row.group),
               graph->node_name(gap.node)};
  if (gap.predecessor != trace::kNone) text.cause += ": " + graph->node_name(gap.predecessor);
  return text;
}

// Adds the gaps of a list sorted by start and disjoint.
template <class Gaps, class Add>
void add_between(const Gaps& gaps, Time from, Time to, Add add) {
  const auto first = std::partition_point(gaps.begin(), gaps.end(),
                                          [&](const auto& g) { return g.ended <= from; });
  for (auto gap = first; gap != gaps.end() && gap->started < to; ++gap) add(*gap);
}

void draw_totals(const Theme& theme, const GapTotals& totals) {
  double sum = 0;
  for (const auto& [cause, time] : totals.idle) sum += time;
  const auto length = static_cast<double>(std::max<Time>(totals.length, 1));
  ImGui::TextUnformatted(("idle " + duration_text(sum) + " of " + duration_text(length) + ", " +
                          percent_text(sum / length))
                             .c_str());
  for (const auto& [cause, time] : totals.idle)
    draw_hint(theme, std::string(idle_name(cause)) + "  " + duration_text(time));
  if (totals.count > totals.longest.size())
    draw_hint(theme, "the longest " + count_text(totals.longest.size()) + " of " +
                         count_text(totals.count) + " gaps");
}

}  // namespace

GapTotals list_gaps(const model::Activity& activity, const TimelineScene* scene, Time from,
                    Time to) {
  GapTotals totals;
  totals.length = to - from;
  const auto longer = [](const ListedGap& a, const ListedGap& b) {
    const Time length_a = a.ended - a.started, length_b = b.ended - b.started;
    return length_a != length_b ? length_a > length_b : a.started < b.started;
  };
  // A heap of the longest gaps with the shortest of them first.
  const auto add = [&](ListedGap gap) {
    ++totals.count;
    auto& longest = totals.longest;
    if (longest.size() == kMaxListedGaps) {
      if (!longer(gap, longest.front())) return;
      std::pop_heap(longest.begin(), longest.end(), longer);
      longest.pop_back();
    }
    longest.push_back(std::move(gap));
    std::push_heap(longest.begin(), longest.end(), longer);
  };
  for (const auto& [device, idle] : activity.idle) {
    add_between(idle.gaps, from, to, [&, id = device](const model::IdleGap& gap) {
      totals.idle[gap.cause] +=
          static_cast<double>(std::min(gap.ended, to) - std::max(gap.started, from));
      add({gap.started, gap.ended, gap, id});
    });
  }
  if (scene != nullptr) {
    for (std::size_t row = 0; row < scene->rows.rows.size(); ++row) {
      add_between(scene->row_of_gaps(row), from, to, [&](const model::Gap& gap) {
        add({gap.started, gap.ended, gap, 0});
      });
    }
  }
  std::sort_heap(totals.longest.begin(), totals.longest.end(), longer);
  return totals;
}

std::optional<ListedGap> TimelineGapList::draw(
    const TimelineDrawContext& dc, const std::shared_ptr<const model::Activity>& activity,
    const TimelineData::Scene& scene, TimelineSpan span) {
  static constexpr TableColumn kColumns[] = {
      {"length", "Length of the gap.", 9, ColumnAlign::Right, "ns"},
      {"cause", "Why nothing ran, and what it waited for.", 17, ColumnAlign::Left},
      {"before", "The replay or node that ended the gap. Click to show it.", 10, ColumnAlign::Left},
      {"where", "The device, or the lane or worker of the shown replay.", 6, ColumnAlign::Left},
      {"start", "Start of the gap on the axis of the timeline.", 9, ColumnAlign::Right, "ns"},
  };
  const Theme& theme = dc.context.theme;
  const Key key{activity, scene, span.started, span.ended};
  gaps_.ask(key, [key] {
    return Listed{key.scene, list_gaps(*key.activity, key.scene.get(), key.from, key.to)};
  });
  std::optional<ListedGap> clicked;
  const auto listed = gaps_.value();
  if (listed == nullptr) {
    draw_busy(theme, "Collecting gaps");
    return clicked;
  }
  const GapTotals& totals = listed->totals;
  draw_totals(theme, totals);
  if (begin_table(theme, dc.context.view,
                  {"gaps", kColumns, {static_cast<int>(GapColumn::Length), true}, {0, 0}})) {
    const TableSort sort = sort_of({static_cast<int>(GapColumn::Length), true});
    std::vector<GapText> texts;
    std::vector<std::uint32_t> rows;
    for (const ListedGap& gap : totals.longest) {
      rows.push_back(static_cast<std::uint32_t>(rows.size()));
      texts.push_back(gap_row_text(dc, listed->scene.get(), gap));
    }
    const auto sort_by = [&](auto value) {
      sort_rows(rows, sort.is_descending,
                [&](std::uint32_t a, std::uint32_t b) { return value(a) < value(b); });
    };
    const auto& gaps = totals.longest;
    switch (static_cast<GapColumn>(sort.column)) {
      case GapColumn::Cause: sort_by([&](std::uint32_t i) { return texts[i].cause; }); break;
      case GapColumn::Where: sort_by([&](std::uint32_t i) { return texts[i].where; }); break;
      case GapColumn::Before: sort_by([&](std::uint32_t i) { return texts[i].before; }); break;
      case GapColumn::Length:
        sort_by([&](std::uint32_t i) { return gaps[i].ended - gaps[i].started; });
        break;
      case GapColumn::Start: sort_by([&](std::uint32_t i) { return gaps[i].started; }); break;
    }
    const TableContents contents{
        .name = "gaps",
        .columns = kColumns,
        .rows = rows.size(),
        .cell = [&](std::size_t row, std::size_t column) -> TableCell {
          const GapText& text = texts[rows[row]];
          const ListedGap& gap = gaps[rows[row]];
          switch (static_cast<GapColumn>(column)) {
            case GapColumn::Cause: return {.text = text.cause, .swatch = text.colour};
            case GapColumn::Where: return {.text = text.where, .colour = theme.ink_soft};
            case GapColumn::Before: return {.text = text.before};
            case GapColumn::Length: return time_cell(static_cast<double>(gap.ended - gap.started));
            case GapColumn::Start: break;
          }
          return time_cell(static_cast<double>(gap.started - dc.zero), theme.ink_soft);
        }};
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(rows.size()), row_height());
    while (clipper.Step()) {
      for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
        const std::uint32_t at = rows[static_cast<std::size_t>(i)];
        if (begin_row(theme, i, {}).is_clicked) clicked = gaps[at];
        draw_cells(theme, contents, static_cast<std::size_t>(i));
      }
    }
    end_table(dc.context.view, contents);
  }
  return clicked;
}

}  // namespace reprise::viewer
