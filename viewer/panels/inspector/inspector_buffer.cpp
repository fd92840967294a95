#include "panels/inspector/inspector_buffer.hpp"

#include <algorithm>

#include "model/memory_use.hpp"
#include "panels/inspector/inspector_parts.hpp"
#include "panels/widgets/format.hpp"
#include "panels/widgets/widgets.hpp"

namespace reprise::viewer {

namespace {

const trace::BufferLife* life_of(const model::Document& document, std::uint32_t id) {
  const auto found = document.buffers->find(id);
  return id == trace::kNone || found == document.buffers->end() ? nullptr : &found->second;
}

std::string pool_text(const model::Document& document, std::uint32_t pool) {
  if (pool == trace::kNone) return {};
  const auto found = document.pools->find(pool);
  return found != document.pools->end() && !found->second.label.empty()
             ? found->second.label
             : "pool " + count_text(pool);
}

void draw_place(const PanelContext& context, std::uint32_t buffer) {
  const Theme& theme = context.theme;
  const trace::GraphVersion& version = context.graph()->record();
  const trace::Buffer& record = version.buffers[buffer];
  if (!draw_section(theme, "Where it is", buffer_kind_name(record.kind))) return;
  draw_mono(theme, "Size", bytes_text(record.bytes) + "  (" + count_text(record.bytes) + " B)");
  draw_value(theme, "Pool", pool_text(*context.document, record.pool));
  if (record.kind == trace::BufferKind::Transient) {
    draw_mono(
        theme, "Slab",
        "[" + count_text(record.offset) + ", " + count_text(record.offset + record.bytes) + ")",
        "Its bytes in the memory that the transient buffers of the graph share.");
    if (version.slab_bytes != 0) {
      draw_mono(theme, "Of the slab",
                percent_text(static_cast<double>(record.bytes) /
                             static_cast<double>(version.slab_bytes)));
    }
  }
  if (const trace::BufferLife* life = life_of(*context.document, record.id)) {
    if (life->address != 0) draw_mono(theme, "Address", hex_text(life->address));
    if (record.pool == trace::kNone)
      draw_value(theme, "Pool", pool_text(*context.document, life->pool));
    if (life->allocated != 0)
      draw_mono(theme, "Allocated", moment_text(*context.document, life->allocated),
                "From the first moment of the trace.");
    draw_mono(theme, "Freed",
              life->freed == 0 ? "not yet" : moment_text(*context.document, life->freed),
              "From the first moment of the trace.");
  }
}

void draw_uses(PanelContext& context, std::uint32_t buffer) {
  const model::Graph& graph = *context.graph();
  const auto uses = graph.uses(buffer);
  if (!draw_section(context.theme, "Who uses it, in order", count_text(uses.size()))) return;
  if (uses.empty()) {
    draw_note(context.theme, "No node of this graph touches it.");
    return;
  }
  const std::uint64_t bytes = graph.record().buffers[buffer].bytes;
  draw_list(context.theme, "uses", uses.size(), ListRow::TwoLines, [&](std::size_t i) {
    const trace::NodeAccess& access = graph.record().accesses[uses[i].access];
    draw_node_link(context, uses[i].node, "node " + count_text(uses[i].node),
                   std::string(access_name(access.access)) + " " +
                       range_text(access.begin, access.end, bytes) +
                       (access.inferred != 0 ? ", guessed from a pointer" : ""));
  });
}

void draw_life(PanelContext& context, std::uint32_t buffer) {
  const model::Graph& graph = *context.graph();
  const auto uses = graph.uses(buffer);
  if (uses.empty() || !draw_section(context.theme, "Lifetime in a replay")) return;
  const std::uint32_t first = graph.own_node_of(uses.front().node);
  std::uint32_t last = first;  // what a node runs uses it in that node's time
  for (const model::BufferUse& use : uses) last = std::max(last, graph.own_node_of(use.node));
  draw_mono(context.theme, "Needed for",
            count_text(last - first + 1) + " of " + count_text(graph.own_node_count()) + " nodes",
            "From its first access to its last one, in the order of the nodes.");
  if (context.replay != nullptr && last < context.replay->times.nodes.size()) {
    trace::Time began = 0, ended = 0;
    for (const model::BufferUse& use : uses) {
      const model::NodeSpan& span = context.replay->times.nodes[use.node];
      began = began == 0 ? span.started : std::min(began, span.started);
      ended = std::max(ended, span.ended);
    }
    if (began != 0) {
      draw_mono(
          context.theme, "Measured", duration_text(static_cast<double>(ended - began)),
          "From the start of its first user to the end of its last one, in the shown replay.");
    }
  }
  draw_note(context.theme, "First");
  draw_node_link(context, first);
  if (last != first) {
    draw_note(context.theme, "Last");
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
  if (!draw_section(context.theme, "Shares its bytes with",
                    group == groups->end() ? "nobody" : count_text(group->size() - 1)))
    return;
  if (group == groups->end()) {
    draw_note(context.theme, "No other transient buffer uses these bytes of the slab.");
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
  if (draw_action(context.theme, "Memory", "Show it in the memory panel"))
    context.view.lower = LowerTab::Memory, context.view.reveal_selection = true;
  next_action("Its nodes only");
  if (draw_action(context.theme, "Its nodes only", "Search for its name"))
    context.view.filter.text = graph.buffer_name(buffer);
  next_action("Copy name");
  if (draw_action(context.theme, "Copy name"))
    ImGui::SetClipboardText(graph.buffer_name(buffer).c_str());
  draw_place(context, buffer);
  draw_life(context, buffer);
  draw_uses(context, buffer);
  draw_aliases(context, buffer);
}

}  // namespace reprise::viewer
