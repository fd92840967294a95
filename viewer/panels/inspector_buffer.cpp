#include "panels/inspector_buffer.hpp"

#include <algorithm>

#include "model/memory_use.hpp"
#include "panels/format.hpp"
#include "panels/inspector_parts.hpp"
#include "panels/widgets.hpp"

namespace reprise::viewer {

namespace {

const trace::BufferLife* life_of(const model::Document& document, std::uint32_t id) {
  const auto found = document.buffers->find(id);
  return id == trace::kNone || found == document.buffers->end() ? nullptr : &found->second;
}

std::string pool_text(const model::Document& document, std::uint32_t pool) {
  if (pool == trace::kNone) return {};
  const auto found = document.pools->find(pool);
  return found != document.pools->end() && !found->second.label.empty() ? found->second.label : "pool " + count_text(pool);
}

void draw_place(const Frame& frame, std::uint32_t buffer) {
  const Theme& theme = frame.theme;
  const trace::GraphVersion& version = frame.graph()->record();
  const trace::Buffer& record = version.buffers[buffer];
  if (!draw_section(theme, "Where it is", buffer_kind_name(record.kind))) return;
  draw_mono(theme, "Size", bytes_text(record.bytes) + "  (" + count_text(record.bytes) + " B)");
  draw_value(theme, "Pool", pool_text(*frame.document, record.pool));
  if (record.kind == trace::BufferKind::Transient) {
    draw_mono(theme, "Slab", "[" + count_text(record.offset) + ", " + count_text(record.offset + record.bytes) + ")",
              "Its bytes in the memory that the transient buffers of the graph share.");
    if (version.slab_bytes != 0) {
      draw_mono(theme, "Of the slab", percent_text(static_cast<double>(record.bytes) / static_cast<double>(version.slab_bytes)));
    }
  }
  if (const trace::BufferLife* life = life_of(*frame.document, record.id)) {
    if (life->address != 0) draw_mono(theme, "Address", hex_text(life->address));
    if (record.pool == trace::kNone) draw_value(theme, "Pool", pool_text(*frame.document, life->pool));
    if (life->allocated != 0) draw_mono(theme, "Allocated", moment_text(*frame.document, life->allocated), "From the first moment of the trace.");
    draw_mono(theme, "Freed", life->freed == 0 ? "not yet" : moment_text(*frame.document, life->freed), "From the first moment of the trace.");
  }
}

void draw_uses(Frame& frame, std::uint32_t buffer) {
  const model::Graph& graph = *frame.graph();
  const auto uses = graph.uses(buffer);
  if (!draw_section(frame.theme, "Who uses it, in order", count_text(uses.size()))) return;
  if (uses.empty()) {
    draw_note(frame.theme, "No node of this graph touches it.");
    return;
  }
  const std::uint64_t bytes = graph.record().buffers[buffer].bytes;
  draw_list(frame.theme, "uses", uses.size(), ListRow::TwoLines, [&](std::size_t i) {
    const trace::NodeAccess& access = graph.record().accesses[uses[i].access];
    draw_node_link(frame, uses[i].node, "node " + count_text(uses[i].node),
                   std::string(access_name(access.access)) + " " + range_text(access.begin, access.end, bytes) +
                       (access.inferred != 0 ? ", guessed from a pointer" : ""));
  });
}

void draw_life(Frame& frame, std::uint32_t buffer) {
  const model::Graph& graph = *frame.graph();
  const auto uses = graph.uses(buffer);
  if (uses.empty() || !draw_section(frame.theme, "Lifetime in a replay")) return;
  const std::uint32_t first = graph.own_node_of(uses.front().node);
  std::uint32_t last = first;  // what a node runs uses it in that node's time
  for (const model::BufferUse& use : uses) last = std::max(last, graph.own_node_of(use.node));
  draw_mono(frame.theme, "Needed for", count_text(last - first + 1) + " of " + count_text(graph.own_node_count()) + " nodes",
            "From its first access to its last one, in the order of the nodes.");
  if (frame.replay != nullptr && last < frame.replay->times.nodes.size()) {
    trace::Time began = 0, ended = 0;
    for (const model::BufferUse& use : uses) {
      const model::NodeSpan& span = frame.replay->times.nodes[use.node];
      began = began == 0 ? span.started : std::min(began, span.started);
      ended = std::max(ended, span.ended);
    }
    if (began != 0) {
      draw_mono(frame.theme, "Measured", duration_text(static_cast<double>(ended - began)),
                "From the start of its first user to the end of its last one, in the shown replay.");
    }
  }
  draw_note(frame.theme, "First");
  draw_node_link(frame, first);
  if (last != first) {
    draw_note(frame.theme, "Last");
    ImGui::PushID("last");
    draw_node_link(frame, last);
    ImGui::PopID();
  }
}

}  // namespace

void BufferPage::draw_aliases(Frame& frame, std::uint32_t buffer) {
  if (frame.graph()->record().buffers[buffer].kind != trace::BufferKind::Transient) return;
  const model::GraphKey key = frame.graph()->key();
  aliases_.ask(key, [graph = frame.entry->graph] { return model::alias_groups(*graph); });
  const auto groups = aliases_.value(key);
  if (!groups) return;
  const auto group = std::find_if(groups->begin(), groups->end(), [&](const auto& g) { return std::binary_search(g.begin(), g.end(), buffer); });
  if (!draw_section(frame.theme, "Shares its bytes with", group == groups->end() ? "nobody" : count_text(group->size() - 1))) return;
  if (group == groups->end()) {
    draw_note(frame.theme, "No other transient buffer uses these bytes of the slab.");
    return;
  }
  std::vector<std::uint32_t> others;
  std::copy_if(group->begin(), group->end(), std::back_inserter(others), [&](std::uint32_t b) { return b != buffer; });
  draw_list(frame.theme, "aliases", others.size(), ListRow::OneLine,
            [&](std::size_t i) { draw_buffer_link(frame, others[i], bytes_text(frame.graph()->record().buffers[others[i]].bytes)); });
}

void BufferPage::draw(Frame& frame, std::uint32_t buffer) {
  const model::Graph& graph = *frame.graph();
  const trace::Buffer& record = graph.record().buffers[buffer];
  draw_title(frame.theme, std::string(buffer_kind_name(record.kind)) + " buffer of " + graph.name(), graph.buffer_name(buffer));
  if (draw_action(frame.theme, "Memory", "Show it in the memory panel")) frame.view.lower = LowerTab::Memory, frame.view.reveal_selection = true;
  next_action("Its nodes only");
  if (draw_action(frame.theme, "Its nodes only", "Search for its name")) frame.view.filter.text = graph.buffer_name(buffer);
  next_action("Copy name");
  if (draw_action(frame.theme, "Copy name")) ImGui::SetClipboardText(graph.buffer_name(buffer).c_str());
  draw_place(frame, buffer);
  draw_life(frame, buffer);
  draw_uses(frame, buffer);
  draw_aliases(frame, buffer);
}

}  // namespace reprise::viewer
