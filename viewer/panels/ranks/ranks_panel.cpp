#include "panels/ranks/ranks_panel.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <imgui.h>

#include "panels/ranks/ranks_chart.hpp"
#include "panels/ranks/ranks_tables.hpp"
#include "panels/widgets/choice.hpp"
#include "panels/widgets/format.hpp"
#include "panels/widgets/splitter.hpp"
#include "panels/widgets/widgets.hpp"
#include "trace/record_names.hpp"

namespace reprise::viewer {

using model::CollectiveSummary;
using trace::kNone;

namespace {

constexpr double kAnalysisSeconds = 1;  // minimum time between analyses of a growing document
constexpr float kChartFraction = 0.6f;
constexpr float kLowHeight = 390, kWideWidth = 1'300;  // points

enum class RanksTab : int { Ranks, Collectives, Executions };  // Executions: in a low panel

struct RunsKey {
  std::uint64_t revision = 0;
  model::CollectiveId collective;
  friend bool operator==(const RunsKey&, const RunsKey&) = default;
};
struct LateKey {
  RunsKey runs;
  std::uint64_t replay = 0;
  std::uint32_t occurrence = 0, rank = 0;
  friend bool operator==(const LateKey&, const LateKey&) = default;
};

}  // namespace

struct RanksPanel::State {
  explicit State(Background& background)
      : view_model(background), runs(background), late(background) {}

  // The newest analysis; null before the first one.
  RanksViewModelPointer update(const PanelContext& context);
  void draw_summary(const PanelContext& context, const RanksViewModel& shown) const;
  void draw_tabs(const PanelContext& context, const RanksViewModel& shown, bool has_executions);
  void draw_tables(PanelContext& context, const RanksViewModelPointer& shown,
                   const CollectiveSummary& collective, ImVec2 size);
  void draw_collective(PanelContext& context, const RanksViewModelPointer& shown,
                       std::size_t collective, ImVec2 size);
  void draw_title(const PanelContext& context, const RanksViewModelPointer& shown,
                  std::size_t collective, const RanksChart& chart);
  [[nodiscard]] std::size_t shown_execution(const PanelContext& context,
                                            const CollectiveSummary& collective,
                                            const model::CollectiveExecutions& all);
  void show_execution(PanelContext& context, const CollectiveSummary& collective,
                      const model::CollectiveExecution& execution);

  AsyncValue<std::uint64_t, RanksViewModel> view_model;  // by document revision
  double requested_at = -1e9;
  AsyncValue<RunsKey, model::CollectiveExecutions> runs;
  AsyncValue<LateKey, model::LateCommand> late;

  RankTable rank_table;
  CollectiveTable collective_table;
  RanksTab tab = RanksTab::Ranks;
  float chart_fraction = kChartFraction;
  model::CollectiveId selected;
  bool has_selected = false;
  std::uint32_t session = kNone;  // the selected rank
  std::uint64_t replay = 0;       // of the shown execution
  std::uint32_t occurrence = 0;
};

RanksPanel::RanksPanel(Background& background) : state_(std::make_unique<State>(background)) {}
RanksPanel::~RanksPanel() = default;

RanksViewModelPointer RanksPanel::State::update(const PanelContext& context) {
  if (const double now = ImGui::GetTime();
      !context.is_live || now - requested_at >= kAnalysisSeconds) {
    requested_at = now;
    view_model.ask(context.document->revision,
                   [document = context.document] { return ranks_view_model(document); });
  }
  return view_model.value();
}

void RanksPanel::State::draw_summary(const PanelContext& context,
                                     const RanksViewModel& shown) const {
  const Theme& theme = context.theme;
  const model::Document& document = *shown.document;
  const auto& ranks = shown.analysis.ranks;
  std::string text = count_text(ranks.size()) + (ranks.size() == 1 ? " rank" : " ranks");
  if (shown.analysis.worst != kNone) {
    const model::RankSummary& worst = ranks[shown.analysis.worst];
    text += "      " + rank_text(document, shown.analysis.worst) + " arrived last in " +
            percent_text(static_cast<double>(worst.last) / static_cast<double>(worst.executions)) +
            " of collectives, others waited " + duration_text(worst.caused) + " in total";
  }
  if (document.has_ranks() && shown.analysis.max_error == 0) {
    text += "      all ranks have one clock";
  } else if (document.has_ranks()) {
    text += "      times are on the clock of " + rank_text(document, shown.analysis.reference);
    text += shown.analysis.max_error == trace::kUnknownError
                ? "; some ranks have no error bound"
                : ", two ranks agree within " +
                      duration_text(static_cast<double>(shown.analysis.max_error));
  }
  text_ellipsis(text, theme.ink_soft);
  tooltip(text +
          "\nA time within the error of the clocks is marked with ~. Exposed communication and "
          "transfer do not depend on the clocks of other ranks.");
}

void RanksPanel::State::draw_tabs(const PanelContext& context, const RanksViewModel& shown,
                                  bool has_executions) {
  std::vector<ChoiceItem> tabs{
      {"Ranks  " + count_text(shown.analysis.ranks.size()), "Communication of each rank."},
      {"Collectives  " + count_text(shown.analysis.collectives.size()),
       "Waiting in each collective."}};
  if (has_executions) {
    tabs.push_back({"Executions", "The ranks in each execution of the selected collective."});
  } else if (tab == RanksTab::Executions) {
    tab = RanksTab::Collectives;
  }
  tab = static_cast<RanksTab>(draw_choice(context.theme, "tab", tabs, static_cast<int>(tab)));
}

void RanksPanel::State::draw_tables(PanelContext& context, const RanksViewModelPointer& shown,
                                    const CollectiveSummary& collective, ImVec2 size) {
  const Theme& theme = context.theme;
  const bool are_both = size.x >= kWideWidth * theme.scale;
  ImGui::BeginChild("tables", size);
  if (!are_both) draw_tabs(context, *shown, false);
  if (are_both || tab == RanksTab::Ranks) {
    const ImVec2 part{are_both ? std::floor(size.x * 0.45f) : 0, 0};
    rank_table.draw(context, shown, &collective, session, part);
  }
  if (are_both) ImGui::SameLine(0, theme.space);
  if (are_both || tab != RanksTab::Ranks) collective_table.draw(context, shown, selected, {0, 0});
  ImGui::EndChild();
}

// The one that the panel showed, or of the shown replay, or the last one.
std::size_t RanksPanel::State::shown_execution(const PanelContext& context,
                                               const CollectiveSummary& collective,
                                               const model::CollectiveExecutions& all) {
  const bool is_own = std::any_of(
      collective.ranks.begin(), collective.ranks.end(),
      [&](const model::CollectiveRank& rank) { return rank.graph == context.view.graph; });
  if (is_own && context.view.replay && *context.view.replay != replay) {
    replay = *context.view.replay;
    occurrence = 0;
  }
  const auto found = execution_in(all, replay);
  if (!found) return all.executions.size() - 1;
  for (std::size_t i = *found; i < all.executions.size() && all.executions[i].replay == replay;
       ++i) {
    if (all.executions[i].occurrence == occurrence) return i;
  }
  return *found;
}

void RanksPanel::State::show_execution(PanelContext& context, const CollectiveSummary& collective,
                                       const model::CollectiveExecution& execution) {
  replay = execution.replay;
  occurrence = execution.occurrence;
  // The shown graph stays if it belongs to a rank of the collective.
  model::GraphKey graph = collective.ranks[execution.last == kNone ? 0 : execution.last].graph;
  for (const model::CollectiveRank& rank : collective.ranks) {
    if (rank.graph == context.view.graph) graph = rank.graph;
  }
  context.view.show_replay(graph, replay);
  context.view.select(model::SelectedReplay{graph, replay});
}

void RanksPanel::State::draw_title(const PanelContext& context, const RanksViewModelPointer& shown,
                                   std::size_t collective, const RanksChart& chart) {
  const Theme& theme = context.theme;
  const CollectiveSummary& c = chart.collective;
  const model::CollectiveExecution& e = chart.all.executions[chart.shown];
  std::string text = c.name + " of " + c.graph;
  if (const std::string kind = trace::collective_kind_name(c.kind); kind != c.name)
    text += ", " + kind;
  text += ", replay " + count_text(e.replay);
  if (e.occurrence != 0) text += ", execution " + count_text(e.occurrence + 1);
  if (e.count < c.ranks.size())
    text += ", " + count_text(c.ranks.size() - e.count) + " without times";
  ImGui::TextUnformatted(text.c_str());
  if (e.last == kNone) return;
  const LateKey late_key{{shown->document->revision, c.id}, e.replay, e.occurrence, e.last};
  late.ask(late_key, [shown, collective, late_key] {
    return model::late_command(*shown->document, shown->analysis.collectives[collective],
                               late_key.replay, late_key.occurrence, late_key.rank);
  });
  std::string cause = rank_text(chart.document, c.ranks[e.last].session);
  cause += e.is_certain ? " was last" : " was perhaps last";
  cause += ", " + wait_text(static_cast<double>(e.lateness), chart.max_error) +
           " after the median of the others";
  if (const auto command = late.value(late_key); command != nullptr && e.is_certain) {
    const std::string name = late_text(chart.document, c, e.last, *command);
    cause += name.empty() ? "; no command before took longer" : "; " + name;
  }
  ImGui::SameLine(0, theme.space * 2);
  text_ellipsis(cause, e.is_certain ? theme.accent : theme.ink_soft);
  tooltip(text + "\n" + cause);
}

void RanksPanel::State::draw_collective(PanelContext& context, const RanksViewModelPointer& shown,
                                        std::size_t collective, ImVec2 size) {
  const Theme& theme = context.theme;
  const CollectiveSummary& c = shown->analysis.collectives[collective];
  const RunsKey key{shown->document->revision, c.id};
  runs.ask(key, [shown, collective] {
    return model::executions_of(*shown->document, shown->analysis.collectives[collective]);
  });
  const auto all = runs.value(key);
  if (all == nullptr) return draw_busy(theme, "Reading executions");
  if (all->executions.empty()) {
    return draw_empty(theme, "No executions",
                      "Profiling of every or sampled replays records when ranks arrive.");
  }
  const RanksChart chart{*shown->document, c, *all, shown_execution(context, c, *all),
                         shown->analysis.max_error};
  ImGui::BeginChild("collective", size);
  draw_title(context, shown, collective, chart);
  const ImVec2 title = ImGui::GetItemRectMax();
  draw_bar_legend(theme, title.x + theme.space, ImGui::GetWindowPos().x + size.x - theme.half_space,
                  title.y - ImGui::GetTextLineHeight());
  const float strip = std::clamp(std::floor(size.y * 0.17f), 30 * theme.scale, 70 * theme.scale);
  const float width = ImGui::GetContentRegionAvail().x;
  if (const auto clicked = draw_executions(context, chart, {width, strip}))
    show_execution(context, c, all->executions[*clicked]);
  ImGui::BeginChild("bars", {0, 0});
  if (const auto clicked = draw_rank_bars(context, chart, session, ImGui::GetContentRegionAvail()))
    session = *clicked;
  ImGui::EndChild();
  ImGui::EndChild();
}

void RanksPanel::draw(PanelContext& context) {
  const Theme& theme = context.theme;
  if (!has_collectives(*context.document)) {
    return draw_empty(theme, "No collectives",
                      "This view shows how the ranks of a distributed job wait for each other. "
                      "Merge their traces with `reprise merge`.");
  }
  State& s = *state_;
  const RanksViewModelPointer shown = s.update(context);
  if (shown == nullptr) return draw_busy(theme, "Comparing ranks");
  const auto& collectives = shown->analysis.collectives;
  const auto found = std::find_if(
      collectives.begin(), collectives.end(),
      [&](const CollectiveSummary& c) { return s.has_selected && c.id == s.selected; });
  const CollectiveSummary& collective = found == collectives.end() ? collectives.front() : *found;
  s.selected = collective.id;
  s.has_selected = true;
  s.draw_summary(context, *shown);
  const auto index = static_cast<std::size_t>(&collective - collectives.data());
  const ImVec2 space = ImGui::GetContentRegionAvail();
  if (space.y < kLowHeight * theme.scale) {
    s.draw_tabs(context, *shown, true);
    if (s.tab == RanksTab::Executions)
      return s.draw_collective(context, shown, index, ImGui::GetContentRegionAvail());
    if (s.tab == RanksTab::Ranks)
      return s.rank_table.draw(context, shown, &collective, s.session, {0, 0});
    const model::CollectiveId before = s.selected;
    s.collective_table.draw(context, shown, s.selected, {0, 0});
    if (s.selected != before) s.tab = RanksTab::Executions;
    return;
  }
  const float chart = std::clamp(std::floor(space.y * s.chart_fraction), 90 * theme.scale,
                                 std::max(90 * theme.scale, space.y - 110 * theme.scale));
  const ImVec2 size{space.x, std::max(1.0f, space.y - chart - theme.splitter - theme.half_space)};
  s.draw_tables(context, shown, collective, size);
  const ImVec2 line = ImGui::GetItemRectMin();
  const SplitterMove move =
      draw_splitter(theme, "chart line", SplitterAxis::Level, {line.x, line.y + size.y},
                    {line.x + size.x, line.y + size.y + theme.splitter});
  s.chart_fraction =
      move.reset ? kChartFraction
                 : std::clamp(s.chart_fraction - move.by / std::max(1.0f, space.y), 0.1f, 0.9f);
  ImGui::SetCursorScreenPos({line.x, line.y + size.y + theme.splitter + theme.half_space});
  s.draw_collective(context, shown, index, {size.x, chart});
}

}  // namespace reprise::viewer
