#include "panels/timeline/timeline_tooltips.hpp"

#include "panels/timeline/timeline_nodes.hpp"
#include "panels/widgets/format.hpp"
#include "panels/widgets/profile_text.hpp"
#include "panels/widgets/widgets.hpp"

namespace reprise::viewer {

namespace {

std::string at_text(const TimelineDrawContext& sight, trace::Time time) {
  return duration_text(sight.plane_of(time)) + " after the replay's begin";
}

void hint(const Theme& theme, const char* text) {
  ImGui::PushStyleColor(ImGuiCol_Text, theme.ink_soft);
  ImGui::TextUnformatted(text);
  ImGui::PopStyleColor();
}

void say(const TimelineDrawContext& sight, const NodeHit& hit) {
  const PanelContext& context = sight.context;
  const model::Graph& graph = *context.graph();
  const Theme& theme = context.theme;
  const float x = 110 * theme.scale;
  const std::uint32_t node = hit.item->node;
  const trace::Node& record = graph.record().nodes[node];
  const auto took = static_cast<double>(hit.item->ended - hit.item->started);
  if (hit.count > 1) {
    ImGui::TextUnformatted((count_text(hit.count) + " nodes, too short to see").c_str());
    hint(theme, "Zoom in for each. The longest of them:");
    ImGui::Separator();
  }
  ImGui::PushFont(theme.mono);
  ImGui::TextUnformatted(graph.node_name(node).c_str());
  ImGui::PopFont();
  if (const std::string path = graph.label_path(record.label); !path.empty())
    hint(theme, path.c_str());
  ImGui::Separator();
  std::string time = duration_text(took);
  if (context.view_model != nullptr && node < context.view_model->nodes.size() &&
      context.view_model->nodes[node].median > 0) {
    const double median = context.view_model->nodes[node].median;
    time +=
        "  (" + change_text(took / median - 1) + " of its median, " + duration_text(median) + ")";
  }
  draw_field(theme, "took", time, x);
  draw_field(theme, "began", at_text(sight, hit.item->started), x);
  draw_field(
      theme, "node",
      count_text(node) + ", " + kind_name(record.kind) + ", lane " + std::to_string(record.lane),
      x);
  const trace::Sample& sample = hit.scene->block->samples[hit.item->sample];
  draw_field(theme, "worker",
             std::to_string(sample.worker) + ", timed by " + source_name(hit.scene->block->source),
             x);
  if (sample.occurrence != 0) draw_field(theme, "occurrence", count_text(sample.occurrence + 1), x);
  if (const std::string place = place_text(graph, record.file, record.line); !place.empty())
    draw_field(theme, "recorded at", place, x);
}

void say(const TimelineDrawContext& sight, const GapHit& hit) {
  const model::Graph& graph = *sight.context.graph();
  const Theme& theme = sight.context.theme;
  const float x = 110 * theme.scale;
  ImGui::PushStyleColor(ImGuiCol_Text, theme.ink);
  ImGui::TextUnformatted((std::string(gap_name(hit.gap->kind)) + ", " +
                          duration_text(static_cast<double>(hit.gap->ended - hit.gap->began)))
                             .c_str());
  ImGui::PopStyleColor();
  ImGui::Separator();
  draw_field(theme, "late",
             graph.node_name(hit.gap->node) + " (node " + count_text(hit.gap->node) + ")", x);
  if (hit.gap->predecessor != trace::kNone) {
    draw_field(
        theme, "waited for",
        graph.node_name(hit.gap->predecessor) + " (node " + count_text(hit.gap->predecessor) + ")",
        x);
  }
  if (hit.gap->edge != trace::kNone)
    draw_field(theme, "because of", edge_reason(graph, hit.gap->edge), x);
  switch (hit.gap->kind) {
    case model::GapKind::Predecessor:
      hint(theme, "It needed what that node had not finished.");
      break;
    case model::GapKind::FalseDependency:
      hint(theme,
           "It needed nothing of that node: only an order that was laid upon both held it back.");
      break;
    case model::GapKind::LaunchBubble:
      hint(theme, "All that it needed was done: it could have run.");
      break;
  }
  hint(theme, "Click selects the node that was late.");
}

void say(const TimelineDrawContext& sight, const ReplayHit& hit) {
  const Theme& theme = sight.context.theme;
  const float x = 110 * theme.scale;
  const trace::Replay& replay = hit.replay;
  const model::GraphEntry* const entry = sight.context.document->find(hit.graph);
  const std::string name =
      entry == nullptr ? "graph " + std::to_string(hit.graph.graph) : entry->graph->name();
  const bool launch = hit.what == ReplayHit::What::Launch;
  if (hit.count > 1) {
    ImGui::TextUnformatted(
        (count_text(hit.count) + (launch ? " launches of " : " replays of ") + name).c_str());
    return hint(theme, "Zoom in for each.");
  }
  ImGui::TextUnformatted(
      ((launch ? "launch of replay " : "replay ") + count_text(replay.replay) + " of " + name)
          .c_str());
  ImGui::Separator();
  const auto field = [&](const char* what, model::ReplayMeasure measure) {
    const trace::Time time = model::measure(replay, measure);
    draw_field(theme, what, time < 0 ? "unknown" : duration_text(static_cast<double>(time)), x);
  };
  field("device time", model::ReplayMeasure::DeviceTime);
  field("launch call", model::ReplayMeasure::LaunchCall);
  field("latency", model::ReplayMeasure::Latency);
  const std::string how = entry == nullptr ? "" : measured_by(*entry, replay);
  draw_field(theme, "sampled",
             replay.sampled == 0 ? "no: its nodes have no times"
             : how.empty()       ? "yes"
                                 : "yes, " + how,
             x);
  hint(theme, "Click shows this replay.");
}

void say(const TimelineDrawContext& sight, const RangeHit& hit) {
  const Theme& theme = sight.context.theme;
  if (hit.count > 1) {
    ImGui::TextUnformatted((count_text(hit.count) + " host ranges, too short to see").c_str());
    return hint(theme, "Zoom in for each.");
  }
  const float x = 110 * theme.scale;
  ImGui::TextUnformatted(hit.range.name.c_str());
  ImGui::Separator();
  draw_field(theme, "took", duration_text(static_cast<double>(hit.range.ended - hit.range.started)),
             x);
  draw_field(theme, "began", at_text(sight, hit.range.started), x);
  draw_field(theme, "thread, depth",
             std::to_string(hit.range.thread) + ", " + std::to_string(hit.range.depth), x);
}

void say(const TimelineDrawContext& sight, const LabelHit& hit) {
  const Theme& theme = sight.context.theme;
  if (hit.count > 1) {
    ImGui::TextUnformatted((count_text(hit.count) + " labels, too short to see").c_str());
    return hint(theme, "Zoom in for each.");
  }
  const float x = 110 * theme.scale;
  ImGui::TextUnformatted(sight.context.graph()->label_path(hit.label.label).c_str());
  ImGui::Separator();
  draw_field(theme, "took", duration_text(static_cast<double>(hit.label.ended - hit.label.began)),
             x);
  draw_field(theme, "began", at_text(sight, hit.label.began), x);
  draw_field(theme, "nodes", count_text(hit.label.nodes), x);
}

void say(const TimelineDrawContext&, const std::monostate&) {}

}  // namespace

void draw_timeline_tooltip(const TimelineDrawContext& sight) {
  if (std::holds_alternative<std::monostate>(sight.hit)) return;
  ImGui::BeginTooltip();
  ImGui::PushTextWrapPos(ImGui::GetFontSize() * 36);
  std::visit([&](const auto& hit) { say(sight, hit); }, sight.hit);
  ImGui::PopTextWrapPos();
  ImGui::EndTooltip();
}

}  // namespace reprise::viewer
