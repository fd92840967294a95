#include "panels/inspector/inspector_node.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <vector>

#include "model/timeline_rows.hpp"
#include "panels/inspector/inspector_parts.hpp"
#include "panels/nodes/nodes_distribution.hpp"
#include "panels/widgets/format.hpp"
#include "panels/widgets/profile_text.hpp"
#include "panels/widgets/widgets.hpp"

namespace reprise::viewer {

namespace {

const GraphViewModel::Node* node_statistics(const PanelContext& context, std::uint32_t node) {
  return context.view_model != nullptr && context.view_model->samples != 0 &&
                 node < context.view_model->nodes.size()
             ? &context.view_model->nodes[node]
             : nullptr;
}

// The node's duration in the shown replay, ns; 0 if it was not measured.
double shown_duration(const PanelContext& context, std::uint32_t node) {
  if (context.replay == nullptr || node >= context.replay->times.nodes.size()) return 0;
  const model::NodeSpan& span = context.replay->times.nodes[node];
  return span.measured ? static_cast<double>(span.ended - span.started) : 0;
}

std::string replay_name(const PanelContext& context) {
  return "replay " + count_text(context.replay->replay.replay);
}

// The contents of the page as text, for the clipboard.
std::string node_as_text(const PanelContext& context, std::uint32_t node) {
  const model::Graph& graph = *context.graph();
  const trace::Node& record = graph.record().nodes[node];
  std::string text = graph.node_name(node) + " (" + graph.kind_name(node) + ", node " +
                     std::to_string(node) + " of " + graph.name() + ")\n";
  const auto line = [&](const char* label, const std::string& value) {
    if (!value.empty()) text += std::string(label) + ": " + value + "\n";
  };
  line("label", graph.label_path(record.label));
  line("kernel", graph.kernel_name(node));
  line("source", source_location_text(graph, record.file, record.line));
  const trace::GraphVersion& version = graph.record();
  for (std::uint32_t at = graph.stack(node); at != trace::kNone; at = version.frames[at].caller) {
    const trace::Frame& frame = version.frames[at];
    line("in", version.strings[frame.function] + " (" + version.strings[frame.file] +
                   (frame.line == 0 ? "" : ":" + std::to_string(frame.line)) + ")");
  }
  for (const trace::BlockRelation& relation : graph.relations_into(node))
    line("waits for", graph.node_name(relation.from) + ", " + relation_text(relation));
  if (record.grid[0] != 0)
    line("grid", dimensions_text(record.grid) + ", block " + dimensions_text(record.block));
  if (const GraphViewModel::Node* statistics = node_statistics(context, node)) {
    line("median", duration_text(statistics->median) + ", p10 " + duration_text(statistics->p10) +
                       ", p90 " + duration_text(statistics->p90) + ", p99 " +
                       duration_text(statistics->p99) + ", max " + duration_text(statistics->max) +
                       ", " + count_text(statistics->count) + " samples");
    line("share", percent_text(statistics->share));
    line("slack", duration_text(statistics->slack));
  }
  return text;
}

void draw_head(PanelContext& context, std::uint32_t node) {
  const model::Graph& graph = *context.graph();
  const trace::Node& record = graph.record().nodes[node];
  const GraphViewModel::Node* statistics = node_statistics(context, node);
  std::string title =
      std::string(graph.kind_name(node)) + " node " + count_text(node) + " of " + graph.name();
  if (statistics != nullptr && statistics->is_critical) title += ", on the critical path";
  draw_title(context.theme, title, graph.node_name(node), node_colour(context, node));
  const std::string path = graph.label_path(record.label);
  if (!path.empty()) draw_note(context.theme, path);
  if (const std::uint32_t parent = graph.parent(node); parent != trace::kNone) {
    draw_note(context.theme, "Child of " + graph.node_name(parent) + ", node " +
                                 count_text(parent) + "; included in that node's time.");
  }
  if (draw_action(context.theme, "Graph", "Show in the graph"))
    context.view.show(View::Graph), context.view.reveal_selection = true;
  next_action("Timeline");
  if (draw_action(context.theme, "Timeline", "Show in the timeline"))
    context.view.show(View::Timeline), context.view.reveal_selection = true;
  next_action("Copy name");
  if (draw_action(context.theme, "Copy name"))
    ImGui::SetClipboardText(graph.node_name(node).c_str());
  next_action("Copy all");
  if (draw_action(context.theme, "Copy all", "Name, location, kernel and statistics as text"))
    ImGui::SetClipboardText(node_as_text(context, node).c_str());
}

// The number of loop iterations in the shown replay, if recorded.
void draw_iterations(const PanelContext& context, std::uint32_t node) {
  const auto& loops = context.entry->loops;
  const std::uint64_t replay = context.replay->replay.replay;
  for (std::size_t i = loops.lower_bound(
           replay, [](const trace::LoopRun&l, std::uint64_t number) { return l.replay < number; });
       i < loops.size() && loops[i].replay == replay; ++i) {
    if (context.graph()->record().bodies[loops[i].body].parent != node) continue;
    draw_mono(context.theme, "Iterations", count_text(loops[i].iterations),
              "Iterations of the loop in this replay.");
    const std::uint64_t untimed =
        loops[i].iterations - std::min(loops[i].iterations, loops[i].timed);
    if (untimed != 0)
      draw_mono(context.theme, "Not measured", count_text(untimed),
                "Iterations without node times.");
  }
}

void draw_shown_replay(const PanelContext& context, std::uint32_t node) {
  if (context.replay == nullptr || context.replay->block == nullptr) return;
  if (!draw_section(context.theme, "Shown replay", replay_name(context))) return;
  if (context.entry != nullptr) draw_iterations(context, node);
  const GraphViewModel::Node* statistics = node_statistics(context, node);
  std::size_t runs = 0;
  for (const trace::Sample& sample : context.replay->block->samples) {
    if (sample.node != node) continue;
    ImGui::PushID(static_cast<int>(runs));
    ++runs;
    if (sample.started == 0) {
      draw_note(context.theme, "Run " + count_text(sample.occurrence + 1) + ": timing lost");
    } else {
      if (runs > 1) draw_note(context.theme, "Run " + count_text(sample.occurrence + 1));
      std::string duration = duration_text(sample.duration);
      if (statistics != nullptr && statistics->median > 0)
        duration += "   (" + change_text(sample.duration / statistics->median - 1) + ")";
      draw_mono(context.theme, "Duration", duration, "And the difference to the median.");
      const trace::Time zero = context.replay->replay.started != 0 ? context.replay->replay.started
                                                                   : context.replay->times.started;
      draw_mono(context.theme, "Start",
                "+" + duration_text(static_cast<double>(sample.started - zero)),
                "Relative to the start of the replay on the device.");
      const trace::SampleSource source = context.replay->block->source;
      if (source == trace::SampleSource::Host || sample.worker != 0)
        draw_mono(context.theme, "Ran on",
                  model::row_group_name(model::RowsBy::Worker, source, sample.worker));
    }
    ImGui::PopID();
    if (runs == 16) {
      draw_note(context.theme, "The timeline shows all runs.");
      break;
    }
  }
  if (runs == 0) {
    draw_note(context.theme, "No sample in this replay.");
  } else {
    draw_value(context.theme, "Measured by", source_text(context.replay->block->source));
  }
}

void draw_properties(PanelContext& context, std::uint32_t node) {
  const Theme& theme = context.theme;
  const model::Graph& graph = *context.graph();
  const trace::GraphVersion& version = graph.record();
  const trace::Node& record = version.nodes[node];
  if (!draw_section(theme, "Properties", graph.kind_name(node))) return;
  draw_mono(theme, "Source", source_location_text(graph, record.file, record.line),
            record.line == 0 ? "" : version.strings[record.file].c_str());
  if (record.command != trace::kNone)
    draw_mono(theme, "Command", count_text(record.command), "Index in the command buffer.");
  const auto segment =
      std::find_if(version.segments.begin(), version.segments.end(),
                   [&](const trace::Segment& s) { return node - s.first_node < s.nodes; });
  if (segment != version.segments.end()) {
    const auto number = static_cast<std::uint32_t>(segment - version.segments.begin());
    draw_mono(theme, "Segment",
              count_text(number) + ", " + count_text(segment->nodes) + " nodes, " +
                  count_text(segment->lists) + " lists",
              "One kernel runs all nodes of the segment; each of its resident blocks processes a "
              "list.");
    if (draw_action(theme, "Show only its nodes", "Filters all views by this segment"))
      context.view.filter.text = model::segment_word(number);
  } else {
    draw_mono(theme, "Lane", count_text(record.lane),
              "The lane of the lowered plan that contains the node.");
  }
  if (record.kernel != trace::kNone) {
    const trace::Kernel& kernel = version.kernels[record.kernel];
    const std::string &name = version.strings[kernel.name],
                      &full = version.strings[kernel.full_name];
    draw_mono(theme, "Kernel", name);
    if (full != name) draw_mono(theme, "Full name", full);
    if (kernel.registers != 0)
      draw_mono(theme, "Registers", count_text(kernel.registers), "Per thread.");
    if (kernel.static_shared_bytes != 0)
      draw_mono(theme, "Static shared", bytes_text(kernel.static_shared_bytes),
                "Static shared memory of the kernel.");
  }
  if (record.shared_bytes != 0)
    draw_mono(theme, "Dynamic shared", bytes_text(record.shared_bytes),
              "Dynamic shared memory of the launch.");
  if (record.grid[0] != 0) {
    draw_mono(theme, "Grid", dimensions_text(record.grid));
    draw_mono(theme, "Block", dimensions_text(record.block));
    std::uint64_t threads = 1;
    for (int i = 0; i < 3; ++i)
      threads *= std::uint64_t{std::max(1u, record.grid[i])} * std::max(1u, record.block[i]);
    draw_mono(theme, "Threads", count_text(threads), "Total over all blocks.");
  }
  if (const std::uint64_t changes = context.graph()->changes(node); changes != 0)
    draw_mono(theme, "Parameters", "changed " + count_text(changes) + " times",
              "By the program; the latest are shown.");
  if (record.bytes == 0) return;
  draw_mono(theme, "Bytes", bytes_text(record.bytes));
  const GraphViewModel::Node* statistics = node_statistics(context, node);
  if (statistics == nullptr || statistics->median <= 0) return;
  std::array<char, 32> throughput{};
  std::snprintf(throughput.data(), throughput.size(), "%.2f GB/s",
                static_cast<double>(record.bytes) / statistics->median);
  draw_mono(theme, "Throughput", throughput.data(), "Bytes divided by the median duration.");
}

void draw_buffers(PanelContext& context, std::uint32_t node) {
  const model::Graph& graph = *context.graph();
  const auto accesses = graph.accesses(node);
  if (accesses.empty() || !draw_section(context.theme, "Buffers", count_text(accesses.size())))
    return;
  draw_list(context.theme, "buffers", accesses.size(), ListRow::TwoLines, [&](std::size_t i) {
    const trace::NodeAccess& access = accesses[i];
    const std::uint64_t bytes = graph.record().buffers[access.buffer].bytes;
    draw_buffer_link(context, access.buffer, bytes_text(access.end - access.begin),
                     std::string(access_name(access.access)) + " " +
                         range_text(access.begin, access.end, bytes) +
                         (access.inferred != 0 ? ", inferred from pointer argument" : ""));
  });
}

enum class Side : std::uint8_t { Before, After };

void draw_neighbours(PanelContext& context, std::uint32_t node, Side side) {
  const model::Graph& graph = *context.graph();
  const auto neighbours = side == Side::Before ? graph.predecessors(node) : graph.successors(node);
  // Those without an edge: other edges imply the order of the nodes, but not of their blocks.
  std::vector<const trace::BlockRelation*> relations;
  if (side == Side::Before) {
    for (const trace::BlockRelation& relation : graph.relations_into(node)) {
      const auto edge = std::partition_point(
          neighbours.begin(), neighbours.end(),
          [&](const model::Neighbour& neighbour) { return neighbour.node < relation.from; });
      if (edge == neighbours.end() || edge->node != relation.from) relations.push_back(&relation);
    }
  }
  const std::size_t count = neighbours.size() + relations.size();
  const char* title = side == Side::Before ? "Predecessors" : "Successors";
  if (!draw_section(context.theme, title, count == 0 ? "none" : count_text(count))) return;
  if (count == 0) {
    draw_note(context.theme, side == Side::Before
                                 ? "The node can start as soon as the replay starts."
                                 : "No other node waits for this node.");
    return;
  }
  const bool has_relations = side == Side::Before && !graph.relations_into(node).empty();
  const ListRow row = has_relations ? ListRow::ThreeLines : ListRow::TwoLines;
  draw_list(context.theme, title, count, row, [&](std::size_t i) {
    const bool has_edge = i < neighbours.size();
    const std::uint32_t other =
        has_edge ? neighbours[i].node : relations[i - neighbours.size()]->from;
    const GraphViewModel::Node* statistics = node_statistics(context, other);
    std::string reason = has_edge ? edge_reason(graph, neighbours[i].edge) : "";
    if (has_relations) {
      const trace::BlockRelation* relation = graph.relation(other, node);
      const std::string blocks = relation == nullptr ? "" : relation_text(*relation);
      reason = blocks.empty() || !has_edge ? blocks + reason + "\n" : blocks + "\n" + reason;
    }
    draw_node_link(
        context, other,
        statistics == nullptr || statistics->count == 0 ? "" : duration_text(statistics->median),
        reason);
  });
}

}  // namespace

std::shared_ptr<const NodeTrend> NodePage::request_trend(const PanelContext& context,
                                                         std::uint32_t node) {
  TrendKey key{context.graph()->key(), node, context.view.range, context.entry->replays.size()};
  const bool is_other =
      key.graph != trend_key_.graph || key.node != trend_key_.node || key.range != trend_key_.range;
  const double now = ImGui::GetTime();
  if (is_other || trend_requested_ < 0 ||
      (key != trend_key_ && (!context.is_live || now - trend_requested_ > 0.5))) {
    trend_key_ = key;
    trend_requested_ = now;
    trend_.ask(key, [document = context.document, key] {
      return node_trend(*document, key.graph, key.node, key.range);
    });
  } else if (key != trend_key_) {
    context.background.run([] {});  // wakes the drawing thread for another frame
  }
  // A trend of fewer replays stays valid until the new one is ready.
  auto trend = trend_.value();
  const bool is_same =
      trend && trend->graph == key.graph && trend->node == key.node && trend->range == key.range;
  return is_same ? trend : nullptr;
}

void NodePage::draw_times(PanelContext& context, std::uint32_t node) {
  const Theme& theme = context.theme;
  const GraphViewModel::Node* statistics = node_statistics(context, node);
  const std::string range = context.view.has_range() ? "the selected range" : "all replays";
  if (!draw_section(
          theme, "Time",
          statistics == nullptr ? "" : count_text(statistics->count) + " samples in " + range))
    return;
  if (statistics == nullptr || statistics->count == 0) {
    if (context.view_model == nullptr) {
      draw_note(theme, "Loading samples.");
    } else if (statistics != nullptr && statistics->lost != 0) {
      draw_note(theme, "Timing was lost in all " + count_text(statistics->lost) + " samples.");
    } else {
      draw_note(theme, std::string("Not measured. ") + node_times_hint(*context.document));
    }
    return;
  }
  const std::array<Tile, 8> tiles{
      {{"median", duration_text(statistics->median),
        "50th percentile of the samples, within 0.1 %."},
       {"p10", duration_text(statistics->p10), "10th percentile of the samples, within 0.1 %."},
       {"p90", duration_text(statistics->p90), "90th percentile of the samples, within 0.1 %."},
       {"p99", duration_text(statistics->p99), "99th percentile of the samples, within 0.1 %."},
       {"mean", duration_text(statistics->mean), "Mean of the samples."},
       {"min", duration_text(statistics->min), "Shortest sample."},
       {"max", duration_text(statistics->max), "Longest sample."},
       {"share", percent_text(statistics->share), "Fraction of the total time of all nodes."}}};
  draw_tiles(theme, tiles);
  draw_mono(theme, "Slack",
            statistics->is_critical ? "0 ns (critical path)" : duration_text(statistics->slack),
            "Time by which the node can grow without extending the critical path, from medians.");
  if (statistics->lost != 0)
    draw_mono(theme, "Lost",
              count_text(statistics->lost) + (statistics->lost == 1 ? " sample" : " samples"),
              "Samples without a valid timing.");

  const detail::DurationHistogram* times = times_of(*context.view_model, node);
  if (times == nullptr || times->count() < 2) return;
  std::optional<DurationMark> mark;
  if (const double shown = shown_duration(context, node); shown > 0)
    mark = DurationMark{shown, replay_name(context)};
  const Distribution spread = distribution(
      *times,
      static_cast<std::size_t>(std::clamp(ImGui::GetContentRegionAvail().x / 6, 16.0f, 96.0f)));
  draw_distribution(theme, spread, statistics->median, mark, ImGui::GetFontSize() * 4.5f);
}

void NodePage::draw_trend_of(PanelContext& context, std::uint32_t node) {
  if (node_statistics(context, node) == nullptr) return;
  const auto trend = request_trend(context, node);
  if (!trend || trend->points.size() < 2) return;
  if (!draw_section(context.theme, "Trend", count_text(trend->points.size()) + " replays")) return;
  const std::optional<std::uint64_t> marked =
      context.replay != nullptr ? std::optional(context.replay->replay.replay) : std::nullopt;
  if (const auto clicked = draw_trend(context.theme, *trend, marked, ImGui::GetFontSize() * 4.5f))
    context.view.replay = clicked;
}

void NodePage::draw_versions(PanelContext& context, std::uint32_t node) {
  const auto before = version_before(*context.document, context.graph()->key());
  if (!before) return;
  const model::GraphEntry* entry = context.document->find(*before);
  if (entry == nullptr) return;
  const VersionsKey key{*before, context.graph()->key()};
  versions_.ask(key, [previous = entry->graph, current = context.entry->graph] {
    return version_changes(*previous, *current);
  });
  const auto changes = versions_.value(key);
  if (!changes || !draw_section(context.theme, "Changes since previous version",
                                "version " + count_text(before->version)))
    return;
  if (std::binary_search(changes->added.begin(), changes->added.end(), node)) {
    draw_note(context.theme, "Added in this version.");
  } else if (const ChangedNode* changed = changes->find(node)) {
    for (const std::string& change : changed->changes) draw_note(context.theme, change);
  } else {
    draw_note(context.theme, "Unchanged since the previous version.");
  }
}

void NodePage::draw(PanelContext& context, std::uint32_t node) {
  draw_head(context, node);
  draw_times(context, node);
  draw_trend_of(context, node);
  draw_shown_replay(context, node);
  draw_properties(context, node);
  const trace::GraphVersion& record = context.graph()->record();
  source_.draw_stack(context, {record.strings[record.nodes[node].file], record.nodes[node].line},
                     context.graph()->stack(node));
  draw_buffers(context, node);
  draw_neighbours(context, node, Side::Before);
  draw_neighbours(context, node, Side::After);
  draw_versions(context, node);
}

}  // namespace reprise::viewer
