#include "panels/memory_panel.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "panels/choice.hpp"
#include "panels/format.hpp"
#include "panels/memory_map.hpp"
#include "panels/memory_pool_view.hpp"
#include "panels/memory_side.hpp"
#include "panels/widgets.hpp"

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
enum class Axis : int { Schedule, Time };

bool has_times(const Frame& frame) { return frame.replay && frame.replay->block && frame.replay->times.ended > frame.replay->times.began; }

}  // namespace

struct MemoryPanel::State {
  explicit State(Background& background) : use(background), buffer_matches(background), pools(background), buffers(background) {}

  void ask(Frame& frame);
  void draw_bar(Frame& frame);
  void draw_slab(Frame& frame);
  void draw_pools(Frame& frame);
  [[nodiscard]] bool has_transients(const Frame& frame) const;
  // The times of the next replay are being read: those of the last one stay until then.
  [[nodiscard]] bool waits_for_times(const Frame& frame) const {
    return axis == Axis::Time && !frame.replay && asked.block && asked.graph == frame.entry->graph;
  }

  Latest<UseKey, MemoryFacts> use;
  Latest<MatchKey, std::vector<std::uint8_t>> buffer_matches;
  Latest<PoolKey, PoolFacts> pools;
  UseKey asked;

  MemoryMap map;
  MemorySide side;
  PoolView pool_view;
  BufferView buffers;
  MemoryTab tab = MemoryTab::Slab;
  Axis axis = Axis::Schedule;
  MemoryColour colour = MemoryColour::Label;
  std::optional<bool> seen_axis;  // of the facts that were drawn last
  GraphPointer seen_graph;
};

MemoryPanel::MemoryPanel(Background& background) : state_(std::make_unique<State>(background)) {}
MemoryPanel::~MemoryPanel() = default;

bool MemoryPanel::State::has_transients(const Frame& frame) const {
  const auto& buffers_of = frame.graph()->record().buffers;
  return std::any_of(buffers_of.begin(), buffers_of.end(), [](const trace::Buffer& b) { return b.kind == trace::BufferKind::Transient; });
}

void MemoryPanel::State::ask(Frame& frame) {
  const GraphPointer graph = frame.entry->graph;
  const UseKey key{graph, axis == Axis::Time && has_times(frame) ? frame.replay->block : nullptr};
  if (!(key == asked) && !waits_for_times(frame)) {
    asked = key;
    // A copy of the times: the frame's are gone when this runs.
    const auto times = key.block ? std::make_shared<const model::ReplayTimes>(frame.replay->times) : nullptr;
    use.ask(key, [graph, times] { return times ? memory_facts(graph, *times) : memory_facts(graph); });
  }
  if (!frame.view.filter.is_empty()) {
    const MatchKey match{graph, frame.view.filter};
    buffer_matches.ask(match, [match] { return model::matching_buffers(match.filter, *match.graph); });
  }
  const auto document = frame.document;
  const PoolKey pool_key{graph, document->pools, document->buffers, document->pool_history.size(), document->graphs.size()};
  pools.ask(pool_key, [document, graph] { return pool_facts(*document, graph); });
}

void MemoryPanel::State::draw_bar(Frame& frame) {
  const Theme& theme = frame.theme;
  const std::array<ChoiceItem, 3> tabs{{{"Slab", "Where the transients of this graph lie, and when."},
                                        {"Pools", "Persistent memory: pools, who holds them, and how they grew."},
                                        {"Buffers", "Every buffer that the trace knows, and those of this graph."}}};
  tab = static_cast<MemoryTab>(draw_choice(theme, "tab", tabs, static_cast<int>(tab)));
  if (tab != MemoryTab::Slab || !has_transients(frame)) return;
  ImGui::SameLine(0, theme.space * 2);
  const bool can_show_times = has_times(frame) || waits_for_times(frame);
  const std::array<ChoiceItem, 2> axes{
      {{"Schedule order", "Across: nodes, in the order of the schedule."},
       {"Measured time", can_show_times ? "Across: the time of the replay that is shown." : "There is no replay with measured times to show.",
        can_show_times}}};
  const Axis shown = can_show_times ? axis : Axis::Schedule;
  const auto chosen = static_cast<Axis>(draw_choice(theme, "axis", axes, static_cast<int>(shown)));
  if (chosen != shown) axis = chosen;
  ImGui::SameLine(0, theme.space * 2);
  ImGui::AlignTextToFramePadding();
  ImGui::PushStyleColor(ImGuiCol_Text, theme.ink_soft);
  ImGui::TextUnformatted("coloured by");
  ImGui::PopStyleColor();
  ImGui::SameLine();
  ImGui::SetNextItemWidth(ImGui::CalcTextSize(kMemoryColourNames[3]).x + ImGui::GetFrameHeight() + theme.space * 3);
  if (ImGui::BeginCombo("##colour", kMemoryColourNames[static_cast<int>(colour)])) {
    for (int i = 0; i < static_cast<int>(std::size(kMemoryColourNames)); ++i) {
      if (ImGui::Selectable(kMemoryColourNames[i], i == static_cast<int>(colour))) colour = static_cast<MemoryColour>(i);
    }
    ImGui::EndCombo();
  }
  ImGui::SameLine(0, theme.space * 2);
  if (ImGui::Button("Fit")) map.fit();
  tooltip(
      "Everything into sight (Home). The wheel zooms at the cursor, with Ctrl only across, with Alt only up and down; a right drag pans, a middle "
      "drag zooms to what it frames.");
}

void MemoryPanel::State::draw_slab(Frame& frame) {
  const Theme& theme = frame.theme;
  if (!has_transients(frame)) {
    ImGui::PushStyleColor(ImGuiCol_Text, theme.ink_soft);
    ImGui::TextUnformatted("This graph has no transient buffers, so it has no slab. Its memory is in these pools:");
    ImGui::PopStyleColor();
    return draw_pools(frame);
  }
  const auto facts = use.value();
  if (!facts || facts->graph != frame.entry->graph) return draw_busy(theme, "Laying out the slab");
  if (facts->use.spans.empty()) return draw_empty(theme, "No node touches a transient buffer", "The graph knows of transients, but none is in use.");
  if (seen_axis != facts->is_measured || seen_graph != facts->graph) {
    seen_axis = facts->is_measured;
    seen_graph = facts->graph;
    map.fit();
    map.choose(std::nullopt);
  }
  const auto passing = frame.view.filter.is_empty() ? BufferMatches() : buffer_matches.value(MatchKey{facts->graph, frame.view.filter});
  static const std::vector<std::uint8_t> kAll;
  const std::vector<std::uint8_t>& matches = passing ? *passing : kAll;
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const float list = room.x > 620 * theme.scale ? 290 * theme.scale : 0, figures = room.x > 1000 * theme.scale ? 220 * theme.scale : 0;
  const float gap = theme.space;
  map.draw(frame, {*facts, matches, colour}, {room.x - (list > 0 ? list + gap : 0) - (figures > 0 ? figures + gap : 0), room.y});
  if (list > 0) {
    ImGui::SameLine(0, gap);
    ImGui::BeginChild("live", {list, room.y});
    map.choose(side.draw(frame, {facts, matches, colour, map.moment()}));
    ImGui::EndChild();
  }
  if (figures > 0) {
    ImGui::SameLine(0, gap);
    ImGui::BeginChild("figures", {figures, room.y});
    draw_memory_figures(theme, *facts, colour);
    ImGui::EndChild();
  }
}

void MemoryPanel::State::draw_pools(Frame& frame) {
  const auto facts = pools.value();
  if (!facts) return draw_busy(frame.theme, "Looking at the pools");
  pool_view.draw(frame, *facts);
}

void MemoryPanel::draw(Frame& frame) {
  if (!frame.entry) {
    draw_empty(frame.theme, "No graph yet", "Memory stands here as soon as the trace describes a graph.");
    return;
  }
  State& s = *state_;
  s.ask(frame);
  s.draw_bar(frame);
  switch (s.tab) {
    case MemoryTab::Slab: s.draw_slab(frame); break;
    case MemoryTab::Pools: s.draw_pools(frame); break;
    case MemoryTab::Buffers: {
      const auto facts = s.pools.value();
      if (!facts) return draw_busy(frame.theme, "Looking at the buffers");
      const auto matches = frame.view.filter.is_empty() ? BufferMatches() : s.buffer_matches.value(MatchKey{frame.entry->graph, frame.view.filter});
      s.buffers.draw(frame, facts, matches);
      break;
    }
  }
}

}  // namespace reprise::viewer
