#include "panels/timeline/timeline_span_table.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "panels/timeline/timeline_host_rows.hpp"
#include "panels/timeline/timeline_nodes.hpp"
#include "panels/widgets/choice.hpp"
#include "panels/widgets/format.hpp"
#include "panels/widgets/table_columns.hpp"
#include "panels/widgets/widgets.hpp"

namespace reprise::viewer {

namespace {

enum class SpanColumn { Name, Time, Share, Count, Mean, Bytes };

struct SpanRow {
  std::string name;
  double time = 0;
  std::uint64_t count = 0, bytes = 0;
  std::uint32_t depth = 0;  // of a label
  ImU32 swatch = 0;
};

void draw_totals(const Theme& theme, const model::SpanSummary& summary) {
  const auto length = static_cast<double>(summary.span.ended - summary.span.started);
  ImGui::TextUnformatted((duration_text(length) + " selected: busy " + duration_text(summary.busy) +
                          ", " + percent_text(length > 0 ? summary.busy / length : 0))
                             .c_str());
  draw_hint(theme, count_text(summary.replays) +
                       (summary.replays == 1 ? " replay, " : " replays, ") +
                       count_text(summary.sampled) + " with node times; " +
                       count_text(summary.nodes) + " nodes, " + duration_text(summary.node_time));
  if (summary.read < summary.sampled)
    draw_hint(theme, "Figures of nodes are of " + count_text(summary.read) + " of the " +
                         count_text(summary.sampled) + " replays with node times.");
}

std::vector<SpanRow> wait_rows(const Theme& theme, const model::SpanSummary& summary) {
  std::vector<SpanRow> rows;
  const auto add = [&](const model::SpanPart& part, const char* name, ImU32 colour) {
    if (part.count != 0) rows.push_back({name, part.time, part.count, 0, 0, colour});
  };
  for (const auto cause :
       {model::IdleCause::Host, model::IdleCause::Launch, model::IdleCause::Unknown})
    add(summary.idle[static_cast<std::size_t>(cause)],
        cause == model::IdleCause::Unknown ? "device idle, launch time unknown" : idle_name(cause),
        idle_colour(theme, cause));
  for (const auto kind :
       {model::GapKind::Predecessor, model::GapKind::FalseDependency, model::GapKind::LaunchBubble})
    add(summary.gaps[static_cast<std::size_t>(kind)], gap_name(kind), gap_colour(theme, kind));
  return rows;
}

std::vector<SpanRow> rows_of(const Theme& theme, const model::SpanSummary& summary, SpanView view) {
  std::vector<SpanRow> rows;
  switch (view) {
    case SpanView::Kernels:
      for (const model::NodeGroup& group : summary.kernels)
        rows.push_back({group.name, group.total, group.samples});
      break;
    case SpanView::Labels:  // without the root, and without the kernels below labels
      for (const model::NodeGroup& group : summary.labels) {
        if (group.is_label && group.depth != 0 && group.samples != 0)
          rows.push_back({group.name, group.total, group.samples, 0, group.depth - 1});
      }
      break;
    case SpanView::Graphs:
    case SpanView::Transfers:
      for (const model::SpanPart& part :
           view == SpanView::Graphs ? summary.graphs : summary.transfers)
        rows.push_back({part.name, part.time, part.count, part.bytes});
      break;
    case SpanView::Waits:
    case SpanView::Gaps: return wait_rows(theme, summary);
  }
  return rows;
}

void sort(std::vector<SpanRow>& rows, TableSort by) {
  const auto sort_by = [&](auto value) {
    std::stable_sort(rows.begin(), rows.end(), [&](const SpanRow& a, const SpanRow& b) {
      return by.is_descending ? value(b) < value(a) : value(a) < value(b);
    });
  };
  switch (static_cast<SpanColumn>(by.column)) {
    case SpanColumn::Name: return sort_by([](const SpanRow& r) { return r.name; });
    case SpanColumn::Time:
    case SpanColumn::Share: return sort_by([](const SpanRow& r) { return r.time; });
    case SpanColumn::Count: return sort_by([](const SpanRow& r) { return r.count; });
    case SpanColumn::Mean:
      return sort_by([](const SpanRow& r) { return r.time / static_cast<double>(r.count); });
    case SpanColumn::Bytes: return sort_by([](const SpanRow& r) { return r.bytes; });
  }
}

void draw_table(const TimelineDrawContext& dc, const model::SpanSummary& summary, SpanView view) {
  static constexpr TableColumn kColumns[] = {
      {"name", "Kernel, label, graph, transfer or cause. Labels are nested.", 11,
       ColumnAlign::Left},
      {"time", "Time within the span.", 8, ColumnAlign::Right, "ns"},
      {"share",
       "Of the time of all nodes in the span; of graphs and waits, of the span. Waits of several "
       "lanes or workers add up.",
       6, ColumnAlign::Right},
      {"count", "Executions, replays or gaps in the span.", 6, ColumnAlign::Right},
      {"mean", "Mean time of each.", 8, ColumnAlign::Right, "ns"},
      {"bytes", "Bytes that were copied or written.", 9, ColumnAlign::Right, "bytes"},
  };
  const Theme& theme = dc.context.theme;
  std::vector<SpanRow> rows = rows_of(theme, summary, view);
  if (rows.empty()) {
    const bool needs_nodes = view != SpanView::Graphs && view != SpanView::Waits;
    return draw_empty(theme, "Nothing in this span",
                      needs_nodes && summary.sampled == 0 ? "No replay in it has node times." : "");
  }
  const bool is_tree = view == SpanView::Labels;
  const std::uint64_t absent =
      view == SpanView::Transfers ? 0 : 1u << static_cast<unsigned>(SpanColumn::Bytes);
  const TableSort by_time{static_cast<int>(SpanColumn::Time), true};
  // One table for each set of columns, as ImGui keeps their state.
  if (!begin_table(theme, dc.context.view,
                   {view == SpanView::Transfers ? "span transfers" : "span",
                    kColumns,
                    by_time,
                    {0, 0},
                    absent}))
    return;
  if (!is_tree) sort(rows, sort_of(by_time));
  const bool of_span = view == SpanView::Graphs || view == SpanView::Waits;
  const double whole =
      of_span ? static_cast<double>(summary.span.ended - summary.span.started) : summary.node_time;
  const TableContents contents{
      .name = "span",
      .columns = kColumns,
      .rows = rows.size(),
      .cell = [&](std::size_t at, std::size_t column) -> TableCell {
        const SpanRow& row = rows[at];
        switch (static_cast<SpanColumn>(column)) {
          case SpanColumn::Name:
            return {.text = std::string(2 * row.depth, ' ') + row.name, .swatch = row.swatch};
          case SpanColumn::Time: return time_cell(row.time);
          case SpanColumn::Share: return percent_cell(whole > 0 ? row.time / whole : 0);
          case SpanColumn::Count: return count_cell(row.count, theme.ink_soft);
          case SpanColumn::Mean:
            return time_cell(row.time / static_cast<double>(row.count), theme.ink_soft);
          case SpanColumn::Bytes: break;
        }
        return bytes_cell(row.bytes);
      }};
  ImGuiListClipper clipper;
  clipper.Begin(static_cast<int>(rows.size()), row_height());
  while (clipper.Step()) {
    for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
      static_cast<void>(begin_row(theme, i, {}));
      draw_cells(theme, contents, static_cast<std::size_t>(i));
    }
  }
  end_table(dc.context.view, contents);
}

}  // namespace

bool TimelineSpanTable::draw(const TimelineDrawContext& dc,
                             const std::shared_ptr<const model::Activity>& activity,
                             model::SelectedSpan span) {
  const Theme& theme = dc.context.theme;
  const Key key{activity, span, dc.options.by};
  summary_.ask(key, [key, document = dc.context.document] {
    return model::summarise(*document, *key.activity, key.span, key.by);
  });
  const auto summary = summary_.value();
  if (summary == nullptr) {
    draw_busy(theme, "Summing the selected span");
    return false;
  }
  draw_totals(theme, *summary);
  static const std::array<ChoiceItem, 6> kSpanViews = {
      ChoiceItem{"kernels", "Nodes by kernel; by kind where they have none."},
      ChoiceItem{"labels", "Nodes by label."},
      ChoiceItem{"graphs", "Replays by graph."},
      ChoiceItem{"transfers", "Copies, fills and updates by name."},
      ChoiceItem{"waits", "Idle time of the devices and waits between nodes, by cause."},
      ChoiceItem{"gaps", "The longest gaps."}};
  view_ =
      static_cast<SpanView>(draw_choice(theme, "span view", kSpanViews, static_cast<int>(view_)));
  if (view_ == SpanView::Gaps) return true;
  draw_table(dc, *summary, view_);
  return false;
}

}  // namespace reprise::viewer
