#include "panels/memory/memory_panel.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "panels/memory/memory_map.hpp"
#include "panels/memory/memory_pool_view.hpp"
#include "panels/memory/memory_side.hpp"
#include "panels/widgets/choice.hpp"
#include "panels/widgets/format.hpp"
#include "panels/widgets/widgets.hpp"

namespace reprise::viewer {

namespace {

using GraphPointer = std::shared_ptr<const model::Graph>;
using BufferMatches = std::shared_ptr<const std::vector<std::uint8_t>>;

// Of a replay, its block: another block, other times.
struct UseKey {
  GraphPointer graph;
  model::SampleStore::Block block;  // null: schedule order
  friend bool operator==(const UseKey&, const UseKey&) = default;
};

struct MatchKey {
  GraphPointer graph;
  model::Filter filter;
  friend bool operator==(const MatchKey&, const MatchKey&) = default;
};

struct PoolKey {
  GraphPointer graph;
  std::shared_ptr<const void> pools, buffers;
  std::size_t changes = 0, graphs = 0;
  friend bool operator==(const PoolKey&, const PoolKey&) = default;
};

enum class MemoryTab : int { Slab, Pools, Buffers };
enum class Axis : int { DependencyGraph, Time };

bool has_times(const PanelContext& context) {
  return context.replay && context.replay->block &&
         context.replay->times.ended > context.replay->times.began;
}

}  // namespace

struct MemoryPanel::State {
  explicit State(Background& background)
      : use(background), buffer_matches(background), pools(background), buffers(background) {}

  void ask(PanelContext& context);
  void draw_bar(PanelContext& context);
  void draw_slab(PanelContext& context);
  void draw_pools(PanelContext& context);
  [[nodiscard]] bool has_transients(const PanelContext& context) const;
  // The times of the next replay are being read: those of the last one stay until then.
  [[nodiscard]] bool waits_for_times(const PanelContext& context) const {
    return axis == Axis::Time && !context.replay && asked.block &&
           asked.graph == context.entry->graph;
  }

  AsyncValue<UseKey, MemoryViewModel> use;
  AsyncValue<MatchKey, std::vector<std::uint8_t>> buffer_matches;
  AsyncValue<PoolKey, PoolViewModel> pools;
  UseKey asked;

  MemoryMap map;
  MemorySide side;
  PoolView pool_view;
  BufferView buffers;
  MemoryTab tab = MemoryTab::Slab;
  Axis axis = Axis::DependencyGraph;
  MemoryColour colour = MemoryColour::Label;
  std::optional<bool> seen_axis;  // of the facts that were drawn last
  GraphPointer seen_graph;
};

MemoryPanel::MemoryPanel(Background& background) : state_(std::make_unique<State>(background)) {}
MemoryPanel::~MemoryPanel() = default;

bool MemoryPanel::State::has_transients(const PanelContext& context) const {
  const auto& buffers_of = context.graph()->record().buffers;
  return std::any_of(buffers_of.begin(), buffers_of.end(),
                     [](const trace::Buffer& b) { return b.kind == trace::BufferKind::Transient; });
}

void MemoryPanel::State::ask(PanelContext& context) {
  const GraphPointer graph = context.entry->graph;
  const UseKey key{graph,
                   axis == Axis::Time && has_times(context) ? context.replay->block : nullptr};
  if (!(key == asked) && !waits_for_times(context)) {
    asked = key;
    // A copy of the times: the frame's are gone when this runs.
    const auto times =
        key.block ? std::make_shared<const model::ReplayTimes>(context.replay->times) : nullptr;
    use.ask(key, [graph, times] {
      return times ? memory_view_model(graph, *times) : memory_view_model(graph);
    });
  }
  if (!context.view.filter.is_empty()) {
    const MatchKey match{graph, context.view.filter};
    buffer_matches.ask(match,
                       [match] { return model::matching_buffers(match.filter, *match.graph); });
  }
  const auto document = context.document;
  const PoolKey pool_key{graph, document->pools, document->buffers, document->pool_history.size(),
                         document->graphs.size()};
  pools.ask(pool_key, [document, graph] { return pool_view_model(*document, graph); });
}

void MemoryPanel::State::draw_bar(PanelContext& context) {
  const Theme& theme = context.theme;
  const std::array<ChoiceItem, 3> tabs{
      {{"Slab", "Where the transients of this graph lie, and when."},
       {"Pools", "Persistent memory: pools, who holds them, and how they grew."},
       {"Buffers", "Every buffer that the trace knows, and those of this graph."}}};
  tab = static_cast<MemoryTab>(draw_choice(theme, "tab", tabs, static_cast<int>(tab)));
  if (tab != MemoryTab::Slab || !has_transients(context)) return;
  ImGui::SameLine(0, theme.space * 2);
  const bool can_show_times = has_times(context) || waits_for_times(context);
  const std::array<ChoiceItem, 2> axes{
      {{"DependencyGraph order", "Across: nodes, in the order of the schedule."},
       {"Measured time",
        can_show_times ? "Across: the time of the replay that is shown."
                       : "There is no replay with measured times to show.",
        can_show_times}}};
  const Axis shown = can_show_times ? axis : Axis::DependencyGraph;
  const auto chosen = static_cast<Axis>(draw_choice(theme, "axis", axes, static_cast<int>(shown)));
  if (chosen != shown) axis = chosen;
  ImGui::SameLine(0, theme.space * 2);
  ImGui::AlignTextToFramePadding();
  ImGui::PushStyleColor(ImGuiCol_Text, theme.ink_soft);
  ImGui::TextUnformatted("coloured by");
  ImGui::PopStyleColor();
  ImGui::SameLine();
  ImGui::SetNextItemWidth(ImGui::CalcTextSize(kMemoryColourNames[3]).x + ImGui::GetFrameHeight() +
                          theme.space * 3);
  if (ImGui::BeginCombo("##colour", kMemoryColourNames[static_cast<int>(colour)])) {
    for (int i = 0; i < static_cast<int>(std::size(kMemoryColourNames)); ++i) {
      if (ImGui::Selectable(kMemoryColourNames[i], i == static_cast<int>(colour)))
        colour = static_cast<MemoryColour>(i);
    }
    ImGui::EndCombo();
  }
  ImGui::SameLine(0, theme.space * 2);
  if (ImGui::Button("Fit")) map.fit();
  tooltip(
      "Everything into sight (Home). The wheel zooms at the cursor, with Ctrl only across, with "
      "Alt only up and down; a right drag pans, a middle "
      "drag zooms to what it frames.");
}

void MemoryPanel::State::draw_slab(PanelContext& context) {
  const Theme& theme = context.theme;
  if (!has_transients(context)) {
    ImGui::PushStyleColor(ImGuiCol_Text, theme.ink_soft);
    ImGui::TextUnformatted(
        "This graph has no transient buffers, so it has no slab. Its memory is in these pools:");
    ImGui::PopStyleColor();
    return draw_pools(context);
  }
  const auto view_model = use.value();
  if (!view_model || view_model->graph != context.entry->graph)
    return draw_busy(theme, "Laying out the slab");
  if (view_model->use.spans.empty())
    return draw_empty(theme, "No node touches a transient buffer",
                      "The graph knows of transients, but none is in use.");
  if (seen_axis != view_model->is_measured || seen_graph != view_model->graph) {
    seen_axis = view_model->is_measured;
    seen_graph = view_model->graph;
    map.fit();
    map.choose(std::nullopt);
  }
  const auto passing = context.view.filter.is_empty()
                           ? BufferMatches()
                           : buffer_matches.value(MatchKey{view_model->graph, context.view.filter});
  static const std::vector<std::uint8_t> kAll;
  const std::vector<std::uint8_t>& matches = passing ? *passing : kAll;
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const float list = room.x > 620 * theme.scale ? 290 * theme.scale : 0,
              figures = room.x > 1000 * theme.scale ? 220 * theme.scale : 0;
  const float gap = theme.space;
  map.draw(context, {*view_model, matches, colour},
           {room.x - (list > 0 ? list + gap : 0) - (figures > 0 ? figures + gap : 0), room.y});
  if (list > 0) {
    ImGui::SameLine(0, gap);
    ImGui::BeginChild("live", {list, room.y});
    map.choose(side.draw(context, {view_model, matches, colour, map.moment()}));
    ImGui::EndChild();
  }
  if (figures > 0) {
    ImGui::SameLine(0, gap);
    ImGui::BeginChild("figures", {figures, room.y});
    draw_memory_figures(theme, *view_model, colour);
    ImGui::EndChild();
  }
}

void MemoryPanel::State::draw_pools(PanelContext& context) {
  const auto view_model = pools.value();
  if (!view_model) return draw_busy(context.theme, "Looking at the pools");
  pool_view.draw(context, *view_model);
}

void MemoryPanel::draw(PanelContext& context) {
  if (!context.entry) {
    draw_empty(context.theme, "No graph yet",
               "Memory stands here as soon as the trace describes a graph.");
    return;
  }
  State& s = *state_;
  s.ask(context);
  s.draw_bar(context);
  switch (s.tab) {
    case MemoryTab::Slab: s.draw_slab(context); break;
    case MemoryTab::Pools: s.draw_pools(context); break;
    case MemoryTab::Buffers: {
      const auto view_model = s.pools.value();
      if (!view_model) return draw_busy(context.theme, "Looking at the buffers");
      const auto matches =
          context.view.filter.is_empty()
              ? BufferMatches()
              : s.buffer_matches.value(MatchKey{context.entry->graph, context.view.filter});
      s.buffers.draw(context, view_model, matches);
      break;
    }
  }
}

}  // namespace reprise::viewer
