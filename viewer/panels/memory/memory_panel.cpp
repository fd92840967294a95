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
#include "panels/widgets/splitter.hpp"
#include "panels/widgets/widgets.hpp"

namespace reprise::viewer {

namespace {

using GraphPointer = std::shared_ptr<const model::Graph>;
using BufferMatches = std::shared_ptr<const std::vector<std::uint8_t>>;

// The sample block identifies the replay's times.
struct UseKey {
  GraphPointer graph;
  model::SampleStore::Block block;  // null: execution order
  friend bool operator==(const UseKey&, const UseKey&) = default;
};

struct MatchKey {
  GraphPointer graph;
  model::Filter filter;
  std::vector<std::uint8_t> nodes;  // PanelContext::matches
  friend bool operator==(const MatchKey&, const MatchKey&) = default;
};

struct PoolKey {
  GraphPointer graph;
  std::shared_ptr<const void> pools, buffers;
  std::size_t changes = 0, graphs = 0;
  friend bool operator==(const PoolKey&, const PoolKey&) = default;
};

enum class MemoryTab : int { Slab, Pools, Buffers };
enum class Axis : int { NodeOrder, Time };

bool has_times(const PanelContext& context) {
  return context.replay && context.replay->block &&
         context.replay->times.ended > context.replay->times.started;
}

}  // namespace

struct MemoryPanel::State {
  explicit State(Background& background)
      : use(background),
        bound(background),
        buffer_matches(background),
        pools(background),
        buffers(background) {}

  void request(PanelContext& context);
  void draw_bar(PanelContext& context);
  void draw_slab(PanelContext& context);
  void draw_pools(PanelContext& context);
  [[nodiscard]] bool has_transients(const PanelContext& context) const;
  // True while the samples of the next replay load; the previous times stay until then.
  [[nodiscard]] bool is_waiting_for_times(const PanelContext& context) const {
    return axis == Axis::Time && !context.replay && requested.block &&
           requested.graph == context.entry->graph;
  }

  AsyncValue<UseKey, MemoryViewModel> use;
  AsyncValue<GraphPointer, model::LowerBound> bound;
  AsyncValue<MatchKey, std::vector<std::uint8_t>> buffer_matches;
  AsyncValue<PoolKey, PoolViewModel> pools;
  UseKey requested;

  MemoryMap map;
  MemorySide side;
  float chosen_width = 0;  // of the list beside the map, in points; 0: proposed
  PoolView pool_view;
  BufferView buffers;
  MemoryTab tab = MemoryTab::Slab;
  Axis axis = Axis::NodeOrder;
  MemoryColour colour = MemoryColour::Buffer;
  std::optional<bool> last_axis;  // is_measured of the last drawn view model
  GraphPointer last_graph;
};

MemoryPanel::MemoryPanel(Background& background) : state_(std::make_unique<State>(background)) {}
MemoryPanel::~MemoryPanel() = default;

bool MemoryPanel::State::has_transients(const PanelContext& context) const {
  const auto& all_buffers = context.graph()->record().buffers;
  return std::any_of(all_buffers.begin(), all_buffers.end(),
                     [](const trace::Buffer& b) { return b.kind == trace::BufferKind::Transient; });
}

void MemoryPanel::State::request(PanelContext& context) {
  const GraphPointer graph = context.entry->graph;
  const UseKey key{graph,
                   axis == Axis::Time && has_times(context) ? context.replay->block : nullptr};
  if (!(key == requested) && !is_waiting_for_times(context)) {
    requested = key;
    // The background task may outlive the PanelContext: copy the times.
    const auto times =
        key.block ? std::make_shared<const model::ReplayTimes>(context.replay->times) : nullptr;
    use.ask(key, [graph, times] {
      return times ? memory_view_model(graph, *times) : memory_view_model(graph);
    });
  }
  bound.ask(graph, [graph] { return model::lower_bound(*graph); });
  if (!context.matches.empty()) {
    const MatchKey match{graph, context.view.filter, context.matches};
    buffer_matches.ask(match, [match] {
      return model::matching_buffers(match.filter, *match.graph, match.nodes);
    });
  }
  const auto document = context.document;
  const PoolKey pool_key{graph, document->pools, document->buffers, document->pool_history.size(),
                         document->graphs.size()};
  pools.ask(pool_key, [document, graph] { return pool_view_model(*document, graph); });
}

void MemoryPanel::State::draw_bar(PanelContext& context) {
  const Theme& theme = context.theme;
  const std::array<ChoiceItem, 3> tabs{
      {{"Slab", "Placement and live ranges of the transients of this graph."},
       {"Pools", "Persistent memory: pools, their holders and history."},
       {"Buffers", "All buffers of the trace and of this graph."}}};
  tab = static_cast<MemoryTab>(draw_choice(theme, "tab", tabs, static_cast<int>(tab)));
  if (tab != MemoryTab::Slab || !has_transients(context)) return;
  ImGui::SameLine(0, theme.space * 2);
  const bool can_show_times = has_times(context) || is_waiting_for_times(context);
  const std::array<ChoiceItem, 2> axes{
      {{"Node order", "Horizontal axis: nodes in execution order."},
       {"Measured time",
        can_show_times ? "Horizontal axis: time in the shown replay."
                       : "No replay with node timings.",
        can_show_times}}};
  const Axis shown = can_show_times ? axis : Axis::NodeOrder;
  const auto chosen = static_cast<Axis>(draw_choice(theme, "axis", axes, static_cast<int>(shown)));
  if (chosen != shown) axis = chosen;
  ImGui::SameLine(0, theme.space * 2);
  ImGui::AlignTextToFramePadding();
  ImGui::PushStyleColor(ImGuiCol_Text, theme.ink_soft);
  ImGui::TextUnformatted("Colour");
  ImGui::PopStyleColor();
  ImGui::SameLine();
  ImGui::SetNextItemWidth(ImGui::CalcTextSize(kMemoryColourNames[4]).x + ImGui::GetFrameHeight() +
                          theme.space * 3);
  if (ImGui::BeginCombo("##colour", kMemoryColourNames[static_cast<int>(colour)])) {
    for (int i = 0; i < static_cast<int>(std::size(kMemoryColourNames)); ++i) {
      if (ImGui::Selectable(kMemoryColourNames[i], i == static_cast<int>(colour)))
        colour = static_cast<MemoryColour>(i);
    }
    ImGui::EndCombo();
  }
  ImGui::SameLine(0, theme.space * 2);
  if (ImGui::Button("Fit to view")) map.fit();
  tooltip(
      "Fits the slab into the view (Home). Wheel: zoom, with Ctrl only horizontally, with Alt only "
      "vertically. Right drag: pan. Middle drag: zoom to the rectangle.");
}

void MemoryPanel::State::draw_slab(PanelContext& context) {
  const Theme& theme = context.theme;
  if (!has_transients(context)) {
    ImGui::PushStyleColor(ImGuiCol_Text, theme.ink_soft);
    ImGui::TextUnformatted(
        "This graph has no transient buffers and no slab. Its memory is in these pools:");
    ImGui::PopStyleColor();
    return draw_pools(context);
  }
  const auto view_model = use.value();
  if (!view_model || view_model->graph != context.entry->graph)
    return draw_busy(theme, "Laying out the slab");
  if (view_model->use.spans.empty())
    return draw_empty(theme, "No transient buffer is used",
                      "The graph declares transients that no node accesses.");
  if (last_axis != view_model->is_measured || last_graph != view_model->graph) {
    last_axis = view_model->is_measured;
    last_graph = view_model->graph;
    map.fit();
    map.set_cursor(std::nullopt);
  }
  const auto current_matches =
      context.view.filter.is_empty()
          ? BufferMatches()
          : buffer_matches.value(MatchKey{view_model->graph, context.view.filter, context.matches});
  static const std::vector<std::uint8_t> kAll;
  const std::vector<std::uint8_t>& matches = current_matches ? *current_matches : kAll;
  const ImVec2 available = ImGui::GetContentRegionAvail();
  const float scale = theme.scale;
  const float proposed = available.x > 620 * scale
                             ? std::clamp(0.36f * available.x, 250 * scale, 400 * scale)
                             : 0,
              live_width = proposed > 0 && chosen_width > 0
                               ? std::clamp(chosen_width * scale, 160 * scale, available.x / 2)
                               : proposed,
              summary = available.x > 1000 * scale ? 220 * scale : 0;
  const auto lower_bound = bound.value(view_model->graph);
  const float gap = theme.space;
  map.draw(
      context,
      {*view_model, matches, colour,
       side.list() == MemoryList::Bound ? lower_bound.get() : nullptr},
      {available.x - (live_width > 0 ? live_width + gap : 0) - (summary > 0 ? summary + gap : 0),
       available.y});
  if (live_width > 0) {
    ImGui::SameLine(0, 0);
    const ImVec2 line = ImGui::GetCursorScreenPos();
    const SplitterMove move = draw_splitter(theme, "live splitter", SplitterAxis::Upright, line,
                                            {line.x + gap, line.y + available.y});
    if (move.by != 0) chosen_width = (live_width - move.by) / scale;
    if (move.reset) chosen_width = 0;
    ImGui::SameLine(0, 0);
    ImGui::BeginChild("live", {live_width, available.y});
    map.set_cursor(
        side.draw(context, {view_model, matches, colour, map.cursor(), lower_bound.get()}));
    ImGui::EndChild();
  }
  if (summary > 0) {
    ImGui::SameLine(0, gap);
    ImGui::BeginChild("summary", {summary, available.y});
    draw_memory_summary(theme, *view_model, colour);
    ImGui::EndChild();
  }
}

void MemoryPanel::State::draw_pools(PanelContext& context) {
  const auto view_model = pools.value();
  if (!view_model) return draw_busy(context.theme, "Loading pools");
  pool_view.draw(context, *view_model);
}

void MemoryPanel::draw(PanelContext& context) {
  if (!context.entry) {
    draw_empty(context.theme, "No graph yet", "Memory appears when the trace contains a graph.");
    return;
  }
  State& s = *state_;
  s.request(context);
  s.draw_bar(context);
  switch (s.tab) {
    case MemoryTab::Slab: s.draw_slab(context); break;
    case MemoryTab::Pools: s.draw_pools(context); break;
    case MemoryTab::Buffers: {
      const auto view_model = s.pools.value();
      if (!view_model) return draw_busy(context.theme, "Loading buffers");
      const auto matches = context.view.filter.is_empty()
                               ? BufferMatches()
                               : s.buffer_matches.value(MatchKey{
                                     context.entry->graph, context.view.filter, context.matches});
      s.buffers.draw(context, view_model, matches);
      break;
    }
  }
}

}  // namespace reprise::viewer
