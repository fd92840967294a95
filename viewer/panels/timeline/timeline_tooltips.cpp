#include "panels/timeline/timeline_draw_context.hpp"

#include <algorithm>

#include "panels/timeline/timeline_collectives.hpp"
#include "panels/timeline/timeline_host_rows.hpp"
#include "panels/timeline/timeline_nodes.hpp"
#include "panels/widgets/format.hpp"
#include "panels/widgets/profile_text.hpp"
#include "panels/widgets/widgets.hpp"

namespace reprise::viewer {

namespace {

std::string at_text(const TimelineDrawContext& dc, trace::Time time) {
  return duration_text(static_cast<double>(time - dc.zero)) + " after " + dc.zero_name;
}

// Nothing unless the trace has ranks.
void draw_rank(const TimelineDrawContext& dc, std::uint32_t session, float x) {
  const model::Document& document = *dc.context.document;
  if (document.has_ranks()) draw_field(dc.context.theme, "rank", document.rank_name(session), x);
}

// "11.90 s, 97.0 %".
std::string part_text(trace::Time part, const TimelineSpan& of) {
  const auto time = static_cast<double>(part);
  return duration_text(time) + ", " + percent_text(of.length() > 0 ? time / of.length() : 0);
}

void draw_contents(const TimelineDrawContext& dc, const BlockHit& hit) {
  const Theme& theme = dc.context.theme;
  float x = 110 * theme.scale;
  for (const auto& [name, value] : hit.fields)
    x = std::max(x, ImGui::CalcTextSize(name.c_str()).x + 2 * theme.space);
  ImGui::TextUnformatted((count_text(hit.count) + " " + hit.items).c_str());
  ImGui::Separator();
  draw_field(theme, "start", at_text(dc, hit.span.started), x);
  draw_field(theme, "length", duration_text(hit.span.length()), x);
  draw_field(theme, hit.busy_name, part_text(hit.busy, hit.span), x);
  draw_field(theme, "here",
             part_text(hit.busy_here, hit.here) + " of " + duration_text(hit.here.length()), x);
  if (!hit.fields.empty()) ImGui::Separator();
  for (const auto& [name, value] : hit.fields) draw_field(theme, name.c_str(), value, x);
  draw_hint(theme, "Zoom in for each.");
}

void draw_contents(const TimelineDrawContext& dc, const ActiveHit& hit) {
  const Theme& theme = dc.context.theme;
  const float x = 110 * theme.scale;
  const model::BusyTime& active = hit.scene->active;
  const auto mean = [&](const TimelineSpan& span) {
    const trace::Time sum = active.between(span.started, span.ended);
    return sum == 0 ? "0" : rate_text(static_cast<double>(sum) / std::max(span.length(), 1.0));
  };
  const std::size_t groups = hit.scene->groups.size();
  const std::string all = groups > 1 ? " of " + count_text(groups) : "";
  ImGui::TextUnformatted(groups == 1                            ? "Running nodes"
                         : dc.options.by == model::RowsBy::Lane ? "Busy lanes"
                                                                : "Busy workers");
  ImGui::Separator();
  draw_field(theme, "here", mean(hit.here) + all, x);
  draw_field(theme, "replay", mean({hit.scene->times.started, hit.scene->times.ended}) + all, x);
  draw_field(theme, "max", count_text(active.max_active()) + all, x);
  draw_field(theme, "at", at_text(dc, hit.here.started), x);
}

void draw_contents(const TimelineDrawContext& dc, const NodeHit& hit) {
  const PanelContext& context = dc.context;
  const model::Graph& graph = *graph_of(dc, *hit.scene);
  const bool is_of_graph = graph.key() == context.view.graph;
  const Theme& theme = context.theme;
  const float x = 110 * theme.scale;
  const std::uint32_t node = hit.item->node;
  const trace::Node& record = graph.record().nodes[node];
  const auto duration = static_cast<double>(hit.item->ended - hit.item->started);
  if (hit.block.count > 1) {
    draw_contents(dc, hit.block);
    draw_hint(theme, "The longest of them:");
    ImGui::Separator();
  }
  ImGui::PushFont(theme.mono);
  ImGui::TextUnformatted(graph.node_name(node).c_str());
  ImGui::PopFont();
  if (const std::string whole = whole_kernel_text(graph, node); !whole.empty())
    draw_hint(theme, whole.c_str());
  if (const std::string path = graph.label_path(record.label); !path.empty())
    draw_hint(theme, path.c_str());
  ImGui::Separator();
  std::string time = duration_text(duration);
  if (is_of_graph && context.view_model != nullptr && node < context.view_model->nodes.size() &&
      context.view_model->nodes[node].median > 0) {
    const double median = context.view_model->nodes[node].median;
    time +=
        "  (" + change_text(duration / median - 1) + " vs. median " + duration_text(median) + ")";
  }
  draw_rank(dc, dc.context.document->session_of(graph.key()), x);
  draw_field(theme, "duration", time, x);
  draw_field(theme, "start", at_text(dc, hit.item->started), x);
  if (const TimelineCollective one = collective_of(dc, *hit.scene, *hit.item); one.call != nullptr)
    draw_collective_fields(dc, one, x);
  if (!is_of_graph)
    draw_field(theme, "replay", count_text(hit.scene->replay.replay) + " of " + graph.name(), x);
  draw_field(
      theme, "node",
      count_text(node) + ", " + graph.kind_name(node) + ", lane " + std::to_string(record.lane), x);
  const trace::Sample& sample = hit.scene->block->samples[hit.item->sample];
  draw_field(
      theme, "worker",
      std::to_string(sample.worker) + " (timed by " + source_text(hit.scene->block->source) + ")",
      x);
  if (sample.occurrence != 0) draw_field(theme, "occurrence", count_text(sample.occurrence + 1), x);
  if (const std::string location = source_location_text(graph, record.file, record.line);
      !location.empty())
    draw_field(theme, "recorded at", location, x);
}

void draw_contents(const TimelineDrawContext& dc, const GapHit& hit) {
  const model::Graph& graph = *dc.context.graph();
  const Theme& theme = dc.context.theme;
  const float x = 110 * theme.scale;
  ImGui::PushStyleColor(ImGuiCol_Text, theme.ink);
  ImGui::TextUnformatted((std::string(gap_name(hit.gap->kind)) + ", " +
                          duration_text(static_cast<double>(hit.gap->ended - hit.gap->started)))
                             .c_str());
  ImGui::PopStyleColor();
  ImGui::Separator();
  draw_field(theme, "node",
             graph.node_name(hit.gap->node) + " (node " + count_text(hit.gap->node) + ")", x);
  if (hit.gap->predecessor != trace::kNone) {
    draw_field(
        theme, "waits for",
        graph.node_name(hit.gap->predecessor) + " (node " + count_text(hit.gap->predecessor) + ")",
        x);
  }
  if (hit.gap->edge != trace::kNone)
    draw_field(theme, "edge", edge_reason(graph, hit.gap->edge), x);
  switch (hit.gap->kind) {
    case model::GapKind::Predecessor: draw_hint(theme, "The predecessor had not finished."); break;
    case model::GapKind::FalseDependency:
      draw_hint(theme, "No data dependency: only an edge added by lowering delayed the node.");
      break;
    case model::GapKind::LaunchBubble:
      draw_hint(theme, "All predecessors were complete: launch, scheduler or device delay.");
      break;
  }
  draw_hint(theme, "Click to select the delayed node.");
}

void draw_contents(const TimelineDrawContext& dc, const ReplayHit& hit) {
  const Theme& theme = dc.context.theme;
  const float x = 160 * theme.scale;
  const trace::Replay& replay = hit.replay;
  const model::GraphEntry* const entry = dc.context.document->find(hit.graph);
  const std::string name = graph_name(*dc.context.document, hit.graph);
  const bool launch = hit.kind == ReplayHit::Kind::Launch;
  ImGui::TextUnformatted(
      ((launch ? "launch of replay " : "replay ") + count_text(replay.replay) + " of " + name)
          .c_str());
  ImGui::Separator();
  draw_rank(dc, dc.context.document->session_of(hit.graph), x);
  const auto field = [&](const char* label, model::ReplayMeasure measure) {
    const trace::Time time = model::measure(replay, measure);
    draw_field(theme, label, time < 0 ? "unknown" : duration_text(static_cast<double>(time)), x);
  };
  field("device time", model::ReplayMeasure::DeviceTime);
  field("launch call", model::ReplayMeasure::LaunchCall);
  field("launch-to-start latency", model::ReplayMeasure::LaunchLatency);
  const std::string source = entry == nullptr ? "" : measured_by(*entry, replay);
  draw_field(theme, "sampled",
             replay.sampled == 0 ? "no (no node timings)"
             : source.empty()    ? "yes"
                                 : "yes, " + source,
             x);
  draw_hint(theme, "Click to show this replay.");
}

void draw_contents(const TimelineDrawContext& dc, const IdleHit& hit) {
  const Theme& theme = dc.context.theme;
  const float x = 110 * theme.scale;
  ImGui::TextUnformatted((std::string(idle_name(hit.gap.cause)) + ", " +
                          duration_text(static_cast<double>(hit.gap.ended - hit.gap.started)))
                             .c_str());
  ImGui::Separator();
  draw_rank(dc, dc.context.document->session_of(hit.gap.graph), x);
  draw_field(theme, "start", at_text(dc, hit.gap.started), x);
  const model::GraphEntry* const entry = dc.context.document->find(hit.gap.graph);
  draw_field(theme, "until",
             "replay " + count_text(hit.gap.replay) +
                 (entry == nullptr ? std::string() : " of " + entry->graph->name()),
             x);
  if (const std::string range = host_range_at(
          dc.host, hit.gap.thread, hit.gap.started + (hit.gap.ended - hit.gap.started) / 2);
      !range.empty())
    draw_field(theme, "host", range, x);
  switch (hit.gap.cause) {
    case model::IdleCause::Host:
      return draw_hint(theme, "No replay ran and none was launched: the host was busy elsewhere.");
    case model::IdleCause::Launch:
      return draw_hint(theme,
                       "The replay was launched: launch latency, or it waited for another queue.");
    case model::IdleCause::Unknown: return draw_hint(theme, "The time of the launch is unknown.");
  }
}

void draw_contents(const TimelineDrawContext& dc, const RangeHit& hit) {
  const Theme& theme = dc.context.theme;
  const float x = 110 * theme.scale;
  ImGui::TextUnformatted(hit.range.name.c_str());
  ImGui::Separator();
  draw_rank(dc, dc.context.document->session_of_thread(hit.range.thread), x);
  draw_field(theme, "duration",
             duration_text(static_cast<double>(hit.range.ended - hit.range.started)), x);
  draw_field(theme, "start", at_text(dc, hit.range.started), x);
  draw_field(theme, "thread, depth",
             std::to_string(hit.range.thread) + ", " + std::to_string(hit.range.depth), x);
}

void draw_contents(const TimelineDrawContext& dc, const LabelHit& hit) {
  const Theme& theme = dc.context.theme;
  const float x = 110 * theme.scale;
  ImGui::TextUnformatted(dc.context.graph()->label_path(hit.label.label).c_str());
  ImGui::Separator();
  draw_field(theme, "duration",
             duration_text(static_cast<double>(hit.label.ended - hit.label.started)), x);
  draw_field(theme, "start", at_text(dc, hit.label.started), x);
  draw_field(theme, "nodes", count_text(hit.label.nodes), x);
}

void draw_contents(const TimelineDrawContext&, const std::monostate&) {}

}  // namespace

void draw_timeline_tooltip(const TimelineDrawContext& dc) {
  if (std::holds_alternative<std::monostate>(dc.hit)) return;
  ImGui::BeginTooltip();
  ImGui::PushTextWrapPos(ImGui::GetFontSize() * 36);
  std::visit([&](const auto& hit) { draw_contents(dc, hit); }, dc.hit);
  ImGui::PopTextWrapPos();
  ImGui::EndTooltip();
}

}  // namespace reprise::viewer
