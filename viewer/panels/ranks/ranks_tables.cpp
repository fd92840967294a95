#include "panels/ranks/ranks_tables.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <optional>
#include <string>

#include <imgui.h>

#include "panels/widgets/format.hpp"
#include "panels/widgets/widgets.hpp"
#include "trace/record_names.hpp"

namespace reprise::viewer {

using model::CollectiveRank;
using model::CollectiveSummary;
using trace::kNone;
using trace::Time;

namespace {

enum class RankColumn : std::uint8_t {
  Rank,
  Host,
  Exposed,
  Overlapped,
  Waited,
  Last,
  Certain,
  Caused
};
constexpr TableColumn kRankColumns[] = {
    {"Rank", "Click to show the graph of the rank.", 10, ColumnAlign::Left},
    {"Host", "The host of the rank.", 10, ColumnAlign::Left},
    {"Exposed",
     "Communication per replay during which no other node of the graph runs on the rank; mean. It "
     "contains the waiting.",
     9, ColumnAlign::Right, "ns"},
    {"Overlapped", "Communication per replay beside other nodes of the graph; mean.", 10,
     ColumnAlign::Right, "ns"},
    {"Waited",
     "Time per replay that the rank waited in collectives for ranks that arrived later; mean.", 9,
     ColumnAlign::Right, "ns"},
    {"Last", "Fraction of the collectives that the rank reached last while others waited.", 8,
     ColumnAlign::Right},
    {"Certain",
     "Fraction of the collectives that the rank reached last by more than the error of the clocks.",
     8, ColumnAlign::Right},
    {"Others waited", "Time per replay that the other ranks waited for this one; mean.", 13,
     ColumnAlign::Right, "ns"},
};

enum class CollectiveColumn : std::uint8_t {
  Name,
  Graph,
  Kind,
  Late,
  Executions,
  Last,
  Wait,
  WaitP99,
  Transfer,
  TransferP99
};
constexpr TableColumn kCollectiveColumns[] = {
    {"Collective", "Click to show its executions.", 18, ColumnAlign::Left},
    {"Graph", "The graph of the collective.", 10, ColumnAlign::Left},
    {"Kind", "What the ranks exchange.", 10, ColumnAlign::Left, "", ColumnShow::OnDemand},
    {"Late command",
     "If one rank is last in half of the executions: the command before the collective that takes "
     "longer on this rank than on the others, and the difference of the medians.",
     18, ColumnAlign::Left},
    {"Runs", "Executions with times of at least two ranks.", 7, ColumnAlign::Right},
    {"Last", "The rank that others waited for most, and how often it was last.", 14,
     ColumnAlign::Left},
    {"Wait", "Median over the executions of the mean waiting of a rank.", 9, ColumnAlign::Right,
     "ns"},
    {"p99", "99th percentile of the mean waiting of a rank.", 9, ColumnAlign::Right, "ns"},
    {"Transfer", "Median of the time from the last arrival to the end.", 9, ColumnAlign::Right,
     "ns"},
    {"p99", "99th percentile of the time from the last arrival to the end.", 9, ColumnAlign::Right,
     "ns", ColumnShow::OnDemand},
};

double fraction_of(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

// The rank of a session in a collective.
std::optional<std::uint32_t> rank_in(const CollectiveSummary* collective, std::uint32_t session) {
  if (collective == nullptr) return std::nullopt;
  for (std::uint32_t r = 0; r < collective->ranks.size(); ++r) {
    if (collective->ranks[r].session == session) return r;
  }
  return std::nullopt;
}

double rank_value(const RanksViewModel& v, std::uint32_t session, RankColumn column) {
  const model::RankSummary& r = v.analysis.ranks[session];
  const double replays = static_cast<double>(std::max<std::uint64_t>(1, r.replays));
  switch (column) {
    case RankColumn::Rank:
    case RankColumn::Host: return session;
    case RankColumn::Exposed: return r.exposed / replays;
    case RankColumn::Overlapped: return r.overlapped / replays;
    case RankColumn::Waited: return r.waited / replays;
    case RankColumn::Last: return fraction_of(r.last, r.executions);
    case RankColumn::Certain: return fraction_of(r.certainly_last, r.executions);
    case RankColumn::Caused: break;
  }
  return r.caused / replays;
}

double collective_value(const RanksViewModel& v, std::uint32_t index, CollectiveColumn column) {
  const CollectiveSummary& c = v.analysis.collectives[index];
  switch (column) {
    case CollectiveColumn::Name:
    case CollectiveColumn::Graph:
    case CollectiveColumn::Kind: return index;
    case CollectiveColumn::Late: return static_cast<double>(v.late[index].excess());
    case CollectiveColumn::Executions: return static_cast<double>(c.executions);
    case CollectiveColumn::Last:
      return c.last == kNone ? 0 : fraction_of(c.ranks[c.last].last, c.executions);
    case CollectiveColumn::Wait: return static_cast<double>(c.wait.median);
    case CollectiveColumn::WaitP99: return static_cast<double>(c.wait.p99);
    case CollectiveColumn::Transfer: return static_cast<double>(c.transfer.median);
    case CollectiveColumn::TransferP99: break;
  }
  return static_cast<double>(c.transfer.p99);
}

// Row numbers sorted by value.
template <class Value>
std::vector<std::uint32_t> sorted_rows(std::size_t count, bool is_descending, const Value& value) {
  std::vector<std::uint32_t> rows(count);
  std::iota(rows.begin(), rows.end(), 0u);
  std::stable_sort(rows.begin(), rows.end(), [&](std::uint32_t a, std::uint32_t b) {
    return is_descending ? value(b) < value(a) : value(a) < value(b);
  });
  return rows;
}

TableCell rank_cell(const Theme& theme, const RanksViewModel& v, std::uint32_t session,
                    RankColumn column, double max_caused) {
  const auto& sessions = *v.document->sessions;
  const double value = rank_value(v, session, column);
  const bool has_waits = v.analysis.ranks[session].executions != 0;
  switch (column) {
    case RankColumn::Rank: return {.text = rank_text(*v.document, session)};
    case RankColumn::Host:
      return {.text = session < sessions.size() ? sessions[session].host : "",
              .colour = theme.ink_soft};
    case RankColumn::Exposed:
    case RankColumn::Overlapped: return time_cell(value);
    case RankColumn::Waited: return has_waits ? time_cell(value) : TableCell{.prefix = "-"};
    case RankColumn::Last:
    case RankColumn::Certain:
      return has_waits ? percent_cell(value, value == 0 ? theme.ink_faint : 0)
                       : TableCell{.prefix = "-"};
    case RankColumn::Caused: break;
  }
  if (!has_waits) return {.prefix = "-"};
  TableCell cell = time_cell(value);
  cell.bar = max_caused > 0 ? value / max_caused : 0;
  cell.bar_colour = with_alpha(theme.gap_predecessor, 0.35f);
  return cell;
}

TableCell collective_cell(const Theme& theme, const RanksViewModel& v, std::uint32_t index,
                          CollectiveColumn column) {
  const CollectiveSummary& c = v.analysis.collectives[index];
  const double value = collective_value(v, index, column);
  const TableCell none{.prefix = "-"};
  switch (column) {
    case CollectiveColumn::Name:
      return {.text = std::to_string(c.node) + "  " + c.name, .note = c.name};
    case CollectiveColumn::Graph: return {.text = c.graph, .colour = theme.ink_soft};
    case CollectiveColumn::Kind: return {.text = trace::collective_kind_name(c.kind)};
    case CollectiveColumn::Late:
      return c.last == kNone ? TableCell{}
                             : TableCell{.text = late_text(*v.document, c, c.last, v.late[index]),
                                         .number = value};
    case CollectiveColumn::Executions: return count_cell(c.executions);
    case CollectiveColumn::Last: {
      if (c.last == kNone) return {};
      const CollectiveRank& last = c.ranks[c.last];
      const bool is_certain = last.certainly_last * 2 >= last.last;
      return {.text = (is_certain ? "" : "~") + rank_text(*v.document, last.session) + ", " +
                      percent_text(value),
              .colour = is_certain ? 0 : theme.ink_soft,
              .note = is_certain ? ""
                                 : "In most of these executions the difference to other ranks is "
                                   "within the error of the clocks."};
    }
    case CollectiveColumn::Wait:
    case CollectiveColumn::WaitP99: {
      if (!c.has_waits()) return none;
      TableCell cell = time_cell(value);
      if (value != 0 && value <= static_cast<double>(v.analysis.max_error)) {
        cell.prefix = "~";
        cell.colour = theme.ink_soft;
        cell.note = "Within the error of the clocks.";
      }
      return cell;
    }
    case CollectiveColumn::Transfer:
    case CollectiveColumn::TransferP99: break;
  }
  return c.has_waits() ? time_cell(value) : none;
}

}  // namespace

std::string wait_text(double ns, Time error) {
  return (ns != 0 && ns <= static_cast<double>(error) ? "~" : "") + duration_text(ns);
}

std::string late_text(const model::Document& document, const CollectiveSummary& collective,
                      std::uint32_t rank, const model::LateCommand& late) {
  if (late.node == kNone) return {};
  const model::Graph& graph = *document.find(collective.ranks[rank].graph)->graph;
  return graph.node_name(late.node) + " +" + duration_text(static_cast<double>(late.excess()));
}

void draw_rank_items(PanelContext& context, const CollectiveSummary& collective,
                     std::uint32_t rank) {
  const CollectiveRank& own = collective.ranks[rank];
  if (ImGui::MenuItem("Show in Graph")) {
    context.view.show_graph(own.graph);
    context.view.show(View::Graph);
  }
  if (collective.ranks.size() < 2 || !ImGui::BeginMenu("Compare with")) return;
  for (std::uint32_t r = 0; r < collective.ranks.size(); ++r) {
    const CollectiveRank& other = collective.ranks[r];
    if (r == rank || !ImGui::MenuItem(rank_text(*context.document, other.session).c_str()))
      continue;
    context.view.compare_a = other.graph;
    context.view.compare_b = own.graph;
    context.view.show(View::Compare);
  }
  ImGui::EndMenu();
}

void RankTable::draw(PanelContext& context, const RanksViewModelPointer& view_model,
                     const CollectiveSummary* collective, std::uint32_t& selected_session,
                     ImVec2 size) {
  const Theme& theme = context.theme;
  const RanksViewModel& v = *view_model;
  const TableSort first{static_cast<int>(RankColumn::Caused), true};
  if (!begin_table(theme, context.view, {"ranks", kRankColumns, first, size})) return;
  const TableSort sort = sort_of(first);
  if (rows_of_ != view_model || !(sort == sort_)) {
    rows_of_ = view_model;
    sort_ = sort;
    rows_ = sorted_rows(v.analysis.ranks.size(), sort.is_descending, [&](std::uint32_t s) {
      return rank_value(v, s, static_cast<RankColumn>(sort.column));
    });
  }
  double max_caused = 0;
  for (const model::RankSummary& r : v.analysis.ranks) max_caused = std::max(max_caused, r.caused);
  const TableContents contents{.name = "ranks",
                               .columns = kRankColumns,
                               .rows = rows_.size(),
                               .cell = [&](std::size_t row, std::size_t column) {
                                 return rank_cell(theme, v, rows_[row],
                                                  static_cast<RankColumn>(column), max_caused);
                               }};
  ImGuiListClipper clipper;
  clipper.Begin(static_cast<int>(rows_.size()), row_height());
  while (clipper.Step()) {
    for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
      const std::uint32_t session = rows_[static_cast<std::size_t>(i)];
      const auto rank = rank_in(collective, session);
      ImGui::PushID(static_cast<int>(session));
      const RowInput input =
          begin_row(theme, static_cast<int>(session), {session == selected_session, false});
      if (input.is_clicked) {
        selected_session = session;
        if (rank) context.view.show_graph(collective->ranks[*rank].graph);
      }
      if (ImGui::BeginPopupContextItem("menu")) {
        if (rank) {
          draw_rank_items(context, *collective, *rank);
          ImGui::Separator();
        }
        draw_csv_items(context.view, static_cast<std::size_t>(i));
        ImGui::EndPopup();
      }
      draw_cells(theme, contents, static_cast<std::size_t>(i));
      ImGui::PopID();
    }
  }
  end_table(context.view, contents);
}

void CollectiveTable::draw(PanelContext& context, const RanksViewModelPointer& view_model,
                           model::CollectiveId& selected, ImVec2 size) {
  const Theme& theme = context.theme;
  const RanksViewModel& v = *view_model;
  const TableSort first{static_cast<int>(CollectiveColumn::Wait), true};
  if (!begin_table(theme, context.view, {"collectives", kCollectiveColumns, first, size})) return;
  const TableSort sort = sort_of(first);
  if (rows_of_ != view_model || !(sort == sort_)) {
    rows_of_ = view_model;
    sort_ = sort;
    rows_ = sorted_rows(v.analysis.collectives.size(), sort.is_descending, [&](std::uint32_t c) {
      return collective_value(v, c, static_cast<CollectiveColumn>(sort.column));
    });
  }
  const TableContents contents{.name = "collectives",
                               .columns = kCollectiveColumns,
                               .rows = rows_.size(),
                               .cell = [&](std::size_t row, std::size_t column) {
                                 return collective_cell(theme, v, rows_[row],
                                                        static_cast<CollectiveColumn>(column));
                               }};
  ImGuiListClipper clipper;
  clipper.Begin(static_cast<int>(rows_.size()), row_height());
  while (clipper.Step()) {
    for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
      const std::uint32_t index = rows_[static_cast<std::size_t>(i)];
      const CollectiveSummary& c = v.analysis.collectives[index];
      ImGui::PushID(static_cast<int>(index));
      const RowInput input = begin_row(theme, static_cast<int>(index), {c.id == selected, false});
      if (input.is_clicked) {
        selected = c.id;
        // The collective on the shown graph, or on the rank that others wait for.
        std::uint32_t rank = c.last == kNone ? 0 : c.last;
        for (std::uint32_t r = 0; r < c.ranks.size(); ++r) {
          if (c.ranks[r].graph == context.view.graph) rank = r;
        }
        const model::GraphKey graph = c.ranks[rank].graph;
        const auto& record = v.document->find(graph)->graph->record();
        context.view.show_graph(graph);
        context.view.select(
            model::SelectedNode{graph, record.collectives[c.ranks[rank].collective].node});
      }
      if (ImGui::BeginPopupContextItem("menu")) {
        draw_csv_items(context.view, static_cast<std::size_t>(i));
        ImGui::EndPopup();
      }
      draw_cells(theme, contents, static_cast<std::size_t>(i));
      ImGui::PopID();
    }
  }
  end_table(context.view, contents);
}

}  // namespace reprise::viewer
