#include "panels/inspector/inspector_graph.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "panels/inspector/inspector_parts.hpp"
#include "panels/inspector/inspector_session.hpp"
#include "panels/nodes/nodes_groups.hpp"
#include "panels/widgets/format.hpp"
#include "panels/widgets/profile_text.hpp"
#include "panels/widgets/widgets.hpp"

namespace reprise::viewer {

namespace {

const char* ordering_name(std::uint8_t ordering) {
  switch (ordering) {
    case 0: return "inferred from accesses";
    case 1: return "explicit barriers";
    case 2: return "linear";
    case 3: return "captured";
    default: return "?";
  }
}

const char* entry_exit_name(std::uint8_t entry_exit) {
  switch (entry_exit) {
    case 0: return "none";
    case 1: return "entry and exit";
    case 2: return "entry";
    case 3: return "exit";
    default: return "?";
  }
}

constexpr std::size_t kMaxHottest = 5;

void draw_hottest(PanelContext& context, const std::vector<std::uint32_t>& order) {
  if (context.view_model == nullptr || context.view_model->samples == 0) {
    if (!draw_section(context.theme, "Hottest nodes")) return;
    draw_note(context.theme,
              context.view_model == nullptr
                  ? "Loading samples."
                  : std::string("No node was measured. ") + node_times_hint(*context.document));
    return;
  }
  if (!draw_section(context.theme, "Hottest nodes", "by share")) return;
  const std::vector<GraphViewModel::Node>& nodes = context.view_model->nodes;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const GraphViewModel::Node& node = nodes[order[i]];
    if (node.count == 0) continue;
    const std::string path =
        context.graph()->label_path(context.graph()->record().nodes[order[i]].label);
    draw_node_link(context, order[i], percent_text(node.share),
                   (path.empty() ? "" : path + ", ") + "median " + duration_text(node.median) +
                       (node.is_critical ? ", on the critical path" : ""),
                   node.share / nodes[order[0]].share);
  }
}

void draw_structure(const PanelContext& context, const std::array<std::uint64_t, 7>& causes) {
  const Theme& theme = context.theme;
  const trace::GraphVersion& version = context.graph()->record();
  if (!draw_section(theme, "Structure", counted_text(version.nodes.size(), "node"))) return;
  const std::array<Tile, 4> tiles{{{"nodes", count_text(version.nodes.size()), ""},
                                   {"edges", count_text(version.edges.size()), ""},
                                   {"barriers", count_text(version.barriers.size()), ""},
                                   {"buffers", count_text(version.buffers.size()), ""}}};
  draw_tiles(theme, tiles);
  draw_value(theme, "Ordering", ordering_name(version.ordering));
  const char* const without_lanes = version.segments.empty() ? "none (faithful)" : "none";
  draw_value(theme, "Lanes", version.lanes == 0 ? without_lanes : count_text(version.lanes),
             "Number of lanes in the lowered plan.");
  if (!version.segments.empty()) {
    std::uint64_t nodes = 0;
    for (const trace::Segment& segment : version.segments) nodes += segment.nodes;
    draw_value(theme, "Segments", count_text(version.segments.size()),
               (count_text(nodes) + " nodes run in segments, one kernel each.").c_str());
  }
  draw_value(theme, "Entry/exit", entry_exit_name(version.entry_exit),
             "Kernels that lowering adds before the roots and after the leaves.");
  if (const std::uint64_t changes = context.graph()->changes(); changes != 0)
    draw_value(theme, "Parameters", "changed " + count_text(changes) + " times",
               "The program changed parameters of nodes; the views show the latest.");
  const float line = ImGui::GetTextLineHeight(), size = line * 0.62f;
  for (std::size_t i = 0; i < causes.size(); ++i) {
    if (causes[i] == 0) continue;
    const auto cause = static_cast<trace::EdgeCause>(i);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float top = at.y + (line - size) / 2;
    ImGui::GetWindowDrawList()->AddRectFilled({at.x, top}, {at.x + size, top + size},
                                              cause_colour(theme, cause), 2 * theme.scale);
    ImGui::Dummy({size, line});
    ImGui::SameLine(0, theme.half_space);
    ImGui::Text("%s edges", cause_text(cause));
    ImGui::SameLine();
    ImGui::PushFont(theme.mono);
    text_right(count_text(causes[i]), theme.ink);
    ImGui::PopFont();
  }
}

// A byte count with a bar relative to `largest`.
void draw_bytes(const Theme& theme, const char* label, std::uint64_t bytes, std::uint64_t largest,
                ImU32 colour, const char* explanation) {
  draw_mono(theme, label, bytes_text(bytes), explanation);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, height = theme.half_space;
  ImDrawList* draw = ImGui::GetWindowDrawList();
  draw->AddRectFilled(at, {at.x + width, at.y + height}, with_alpha(theme.ink_faint, 0.18f), 2);
  draw->AddRectFilled(
      at,
      {at.x + width * static_cast<float>(static_cast<double>(bytes) / static_cast<double>(largest)),
       at.y + height},
      colour, 2);
  ImGui::Dummy({width, height});
}

void draw_memory(const PanelContext& context) {
  const Theme& theme = context.theme;
  const trace::GraphVersion& version = context.graph()->record();
  if (version.naive_bytes == 0) return;
  const double saved =
      1 - static_cast<double>(version.slab_bytes) / static_cast<double>(version.naive_bytes);
  if (!draw_section(theme, "Transient memory",
                    saved > 0 ? percent_text(saved) + " saved by sharing" : ""))
    return;
  draw_bytes(theme, "Unshared", version.naive_bytes, version.naive_bytes, theme.ink_faint,
             "Size without sharing: the sum of all transient buffers, aligned.");
  draw_bytes(theme, "Slab", version.slab_bytes, version.naive_bytes, theme.accent,
             "Planned size of the slab.");
  draw_bytes(theme, "Lower bound", version.lower_bound_bytes, version.naive_bytes, theme.good,
             "Maximum bytes live at once. No placement needs less.");
  if (version.slab_bytes > version.lower_bound_bytes)
    draw_mono(theme, "Overhead", bytes_text(version.slab_bytes - version.lower_bound_bytes),
              "Slab minus lower bound.");
}

void draw_compilation(const PanelContext& context) {
  const Theme& theme = context.theme;
  const trace::GraphVersion& version = context.graph()->record();
  if (!draw_section(theme, "Compilation")) return;
  draw_mono(
      theme, "Compile time",
      version.compile_time == 0 ? "" : duration_text(static_cast<double>(version.compile_time)));
  draw_mono(theme, "Instantiation",
            version.instantiate_time == 0
                ? ""
                : duration_text(static_cast<double>(version.instantiate_time)));
  if (const auto found = context.document->creation_costs->find(version.graph);
      found != context.document->creation_costs->end()) {
    const trace::CreationCost& cost = found->second;
    const auto time = [](trace::Time ns) {
      return ns == 0 ? "" : duration_text(static_cast<double>(ns));
    };
    const auto bytes = [](std::int64_t change) {
      return change == trace::kUnknownBytes ? "" : bytes_change_text(change);
    };
    draw_mono(theme, "Capture", time(cost.capture_time));
    draw_mono(theme, "First launch", time(cost.launch_time), "Host time, with uploads before it.");
    draw_mono(theme, "Capture memory", bytes(cost.capture_bytes),
              "Change of the device memory in use, from before the capture to after the "
              "instantiation. Other threads and programs are included.");
    draw_mono(theme, "Launch memory", bytes(cost.launch_bytes),
              "Change of the device memory in use during uploads and the first launch.");
  }
  draw_mono(theme, "Compiled", trace_time_text(*context.document, version.compiled),
            kTraceTimeHint);
  const auto device = context.document->devices->find(version.device);
  if (device != context.document->devices->end()) draw_value(theme, "Device", device->second.name);
  const auto hash = [](std::uint64_t value) { return value == 0 ? "" : hex_text(value); };
  draw_mono(theme, "Plan hash", hash(version.plan_hash), "Equal for graphs with the same plan.");
  draw_mono(theme, "Lowering hash", hash(version.lowering_hash),
            "Equal for graphs with the same lowering.");
}

// The source lines that launched the graph.
void draw_launches(const Theme& theme, const std::vector<model::Graph::LaunchLine>& lines) {
  if (lines.empty() || !draw_section(theme, "Launched by", counted_text(lines.size(), "line")))
    return;
  for (const model::Graph::LaunchLine& line : lines)
    draw_value(theme, line.text.c_str(), counted_text(line.launches, "replay"));
}

}  // namespace

void GraphPage::update_overview(const PanelContext& context) {
  const GraphViewModelKey key = graph_view_model_key(context);
  if (overview_key_ == key) return;
  overview_key_ = key;
  overview_ = {};
  for (const trace::Edge& edge : context.graph()->record().edges) {
    if (static_cast<std::size_t>(edge.cause) < overview_.causes.size())
      ++overview_.causes[static_cast<std::size_t>(edge.cause)];
  }
  overview_.launches = context.graph()->launch_lines();
  if (context.view_model == nullptr) return;
  const std::vector<GraphViewModel::Node>& nodes = context.view_model->nodes;
  std::vector<std::uint32_t> order(nodes.size());
  std::iota(order.begin(), order.end(), 0u);
  overview_.hottest.resize(std::min(kMaxHottest, order.size()));
  std::partial_sort_copy(order.begin(), order.end(), overview_.hottest.begin(),
                         overview_.hottest.end(), [&](std::uint32_t a, std::uint32_t b) {
                           return nodes[a].share != nodes[b].share ? nodes[a].share > nodes[b].share
                                                                   : a < b;
                         });
}

void GraphPage::draw_kernels(PanelContext& context) {
  if (context.view_model == nullptr || context.view_model->samples == 0) return;
  if (const GraphViewModelKey key = graph_view_model_key(context);
      !kernels_key_ || !(*kernels_key_ == key)) {
    kernels_key_ = key;
    kernels_.ask(key, [graph = context.entry->graph, view_model = *context.view_model] {
      const model::NodeTimes times = node_times(*graph, view_model);
      return Kernels{graph->key(), model::groups_by_kernel({&times, 1})};
    });
  }
  const auto kernels = kernels_.value();
  if (!kernels || kernels->graph != context.graph()->key() ||
      kernels->groups.size() == context.graph()->node_count() ||
      !draw_section(context.theme, "Hottest kernels", count_text(kernels->groups.size())))
    return;
  const std::size_t count = std::min<std::size_t>(5, kernels->groups.size());
  for (std::size_t i = 0; i < count; ++i) {
    const model::NodeGroup& group = kernels->groups[i];
    if (group.samples == 0) continue;
    ImGui::PushID(static_cast<int>(i));
    if (draw_link(context.theme,
                  {group.name, percent_text(group.share),
                   count_text(group.nodes) + (group.nodes == 1 ? " node" : " nodes") + ", mean " +
                       duration_text(group.mean()),
                   0, false, group.share / kernels->groups[0].share}))
      context.view.select(model::SelectedNode{context.graph()->key(), group.node});
    ImGui::PopID();
  }
  if (const std::string hint = label_hint(*context.graph()); !hint.empty())
    draw_note(context.theme, hint);
}

void GraphPage::draw_versions(PanelContext& context) {
  const model::GraphKey key = context.graph()->key();
  std::vector<std::pair<model::GraphKey, const model::GraphEntry*>> all;
  for (const auto& [other, entry] : context.document->graphs) {
    if (other.graph == key.graph) all.emplace_back(other, &entry);
  }
  if (all.size() < 2) return;
  if (draw_section(context.theme, "Versions", count_text(all.size()))) {
    draw_list(context.theme, "versions", all.size(), ListRow::OneLine, [&](std::size_t i) {
      const auto& [other, entry] = all[i];
      if (draw_link(context.theme, {"version " + count_text(other.version),
                                    count_text(entry->replays.size()) + " replays",
                                    {},
                                    0,
                                    other == key}))
        context.view.show_graph(other);
    });
  }
  const auto before = version_before(*context.document, key);
  if (!before) return;
  versions_.ask(VersionsKey{*before, key},
                [previous = context.document->find(*before)->graph,
                 current = context.entry->graph] { return version_changes(*previous, *current); });
  const auto changes = versions_.value(VersionsKey{*before, key});
  if (!changes || !draw_section(context.theme, "Changes since previous version",
                                "version " + count_text(before->version)))
    return;
  for (const trace::Update& update : context.document->updates) {
    if (update.graph == key.graph && update.to_version == key.version &&
        !update.description.empty())
      draw_note(context.theme, update.description);
  }
  if (changes->is_empty()) draw_note(context.theme, "No node changed.");
  const model::Graph& previous = *context.document->find(*before)->graph;
  draw_list(
      context.theme, "changed", changes->changed.size(), ListRow::TwoLines, [&](std::size_t i) {
        const ChangedNode& node = changes->changed[i];
        draw_node_link(context, node.node,
                       node.changes.size() > 1 ? "+" + count_text(node.changes.size() - 1) : "",
                       node.changes.front());
      });
  draw_list(context.theme, "added", changes->added.size(), ListRow::OneLine,
            [&](std::size_t i) { draw_node_link(context, changes->added[i], "added"); });
  draw_list(context.theme, "removed", changes->removed.size(), ListRow::OneLine,
            [&](std::size_t i) {
              if (draw_link(context.theme, {previous.node_name(changes->removed[i]), "removed"})) {
                context.view.show_graph(changes->before);
                context.view.select(model::SelectedNode{changes->before, changes->removed[i]});
              }
            });
}

void GraphPage::draw(PanelContext& context) {
  const model::GraphKey key = context.graph()->key();
  draw_title(context.theme, "graph, version " + count_text(key.version), context.graph()->name());
  draw_note(context.theme, "Click a node, buffer, replay or barrier to inspect it.");
  update_overview(context);
  draw_hottest(context, overview_.hottest);
  draw_kernels(context);
  draw_structure(context, overview_.causes);
  draw_memory(context);
  draw_compilation(context);
  source_.draw_stack(context, {}, context.graph()->record().stack);
  draw_launches(context.theme, overview_.launches);
  draw_versions(context);
  draw_session(context);
}

}  // namespace reprise::viewer
