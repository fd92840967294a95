#include "panels/inspector/inspector_buffer.hpp"

#include <algorithm>

#include "model/memory_use.hpp"
#include "panels/inspector/inspector_parts.hpp"
#include "panels/widgets/format.hpp"
#include "panels/widgets/widgets.hpp"

namespace reprise::viewer {

namespace {

const trace::BufferLifetime* lifetime_of(const model::Document& document, std::uint32_t id) {
  const auto found = document.buffers->find(id);
  return id == trace::kNone || found == document.buffers->end() ? nullptr : &found->second;
}

void draw_placement(const PanelContext& context, std::uint32_t buffer) {
  const Theme& theme = context.theme;
  const trace::GraphVersion& version = context.graph()->record();
  const trace::Buffer& record = version.buffers[buffer];
  if (!draw_section(theme, "Placement", buffer_kind_name(record.kind))) return;
  draw_mono(theme, "Size", bytes_text(record.bytes) + "  (" + count_text(record.bytes) + " B)");
  draw_value(theme, "Pool", context.document->pool_name(record.pool));
  if (record.kind == trace::BufferKind::Transient) {
    draw_mono(
        theme, "Slab",
        "[" + count_text(record.offset) + ", " + count_text(record.offset + record.bytes) + ")",
        "Byte range in the slab that the graph's transient buffers share.");
    if (version.slab_bytes != 0) {
      draw_mono(theme, "Slab share",
                percent_text(static_cast<double>(record.bytes) /
                             static_cast<double>(version.slab_bytes)));
    }
  }
  if (const trace::BufferLifetime* lifetime = lifetime_of(*context.document, record.id)) {
    if (lifetime->address != 0) draw_mono(theme, "Address", hex_text(lifetime->address));
    if (record.pool == trace::kNone)
      draw_value(theme, "Pool", context.document->pool_name(lifetime->pool));
    if (lifetime->allocated != 0)
      draw_mono(theme, "Allocated", trace_time_text(*context.document, lifetime->allocated),
                kTraceTimeHint);
    draw_mono(
        theme, "Freed",
        lifetime->freed == 0 ? "not yet" : trace_time_text(*context.document, lifetime->freed),
        kTraceTimeHint);
  }
}

void draw_accesses(PanelContext& context, std::uint32_t buffer) {
  const model::Graph& graph = *context.graph();
  const auto uses = graph.uses(buffer);
  if (!draw_section(context.theme, "Accesses", count_text(uses.size()))) return;
  if (uses.empty()) {
    draw_note(context.theme, "No node of this graph accesses the buffer.");
    return;
  }
  const std::uint64_t bytes = graph.record().buffers[buffer].bytes;
  draw_list(context.theme, "uses", uses.size(), ListRow::TwoLines, [&](std::size_t i) {
    const trace::NodeAccess& access = graph.record().accesses[uses[i].access];
    draw_node_link(context, uses[i].node, "node " + count_text(uses[i].node),
                   std::string(access_name(access.access)) + " " +
                       range_text(access.begin, access.end, bytes) +
                       (access.inferred != 0 ? ", inferred from pointer argument" : ""));
  });
}

void draw_live_range(PanelContext& context, std::uint32_t buffer) {
  const model::Graph& graph = *context.graph();
  const auto uses = graph.uses(buffer);
  if (uses.empty() || !draw_section(context.theme, "Live range")) return;
  const std::uint32_t first = graph.own_node_of(uses.front().node);
  std::uint32_t last = first;  // accesses in a body count as accesses of its parent node
  for (const model::BufferUse& use : uses) last = std::max(last, graph.own_node_of(use.node));
  draw_mono(context.theme, "Span",
            count_text(last - first + 1) + " of " + count_text(graph.own_node_count()) + " nodes",
            "From the first to the last access, in node order.");
  if (context.replay != nullptr && last < context.replay->times.nodes.size()) {
    trace::Time start = 0, end = 0;
    for (const model::BufferUse& use : uses) {
      const model::NodeSpan& span = context.replay->times.nodes[use.node];
      start = start == 0 ? span.started : std::min(start, span.started);
      end = std::max(end, span.ended);
    }
    if (start != 0) {
      draw_mono(context.theme, "Duration", duration_text(static_cast<double>(end - start)),
                "From the start of the first access to the end of the last, in the shown replay.");
    }
  }
  draw_note(context.theme, "First access");
  draw_node_link(context, first);
  if (last != first) {
    draw_note(context.theme, "Last access");
    ImGui::PushID("last");
    draw_node_link(context, last);
    ImGui::PopID();
  }
}

}  // namespace

void BufferPage::draw_aliases(PanelContext& context, std::uint32_t buffer) {
  if (context.graph()->record().buffers[buffer].kind != trace::BufferKind::Transient) return;
  const model::GraphKey key = context.graph()->key();
  aliases_.ask(key, [graph = context.entry->graph] { return model::alias_groups(*graph); });
  const auto groups = aliases_.value(key);
  if (!groups) return;
  const auto group = std::find_if(groups->begin(), groups->end(), [&](const auto& g) {
    return std::binary_search(g.begin(), g.end(), buffer);
  });
  if (!draw_section(context.theme, "Aliases",
                    group == groups->end() ? "none" : count_text(group->size() - 1)))
    return;
  if (group == groups->end()) {
    draw_note(context.theme, "No other transient buffer shares these bytes of the slab.");
    return;
  }
  std::vector<std::uint32_t> others;
  std::copy_if(group->begin(), group->end(), std::back_inserter(others),
               [&](std::uint32_t b) { return b != buffer; });
  draw_list(context.theme, "aliases", others.size(), ListRow::OneLine, [&](std::size_t i) {
    draw_buffer_link(context, others[i],
                     bytes_text(context.graph()->record().buffers[others[i]].bytes));
  });
}

void BufferPage::draw(PanelContext& context, std::uint32_t buffer) {
  const model::Graph& graph = *context.graph();
  const trace::Buffer& record = graph.record().buffers[buffer];
  draw_title(context.theme,
             std::string(buffer_kind_name(record.kind)) + " buffer of " + graph.name(),
             graph.buffer_name(buffer));
  if (draw_action(context.theme, "Memory", "Show in the memory panel"))
    context.view.show(View::Memory), context.view.reveal_selection = true;
  next_action("Filter nodes");
  if (draw_action(context.theme, "Filter nodes", "Search for the buffer's name"))
    context.view.filter.text = model::query_term("buffer", graph.buffer_name(buffer));
  next_action("Copy name");
  if (draw_action(context.theme, "Copy name"))
    ImGui::SetClipboardText(graph.buffer_name(buffer).c_str());
  draw_placement(context, buffer);
  draw_live_range(context, buffer);
  draw_accesses(context, buffer);
  draw_aliases(context, buffer);
}

}  // namespace reprise::viewer
