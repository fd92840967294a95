#include <algorithm>

#include "base/block_interval.hpp"
#include "base/shown_text.hpp"
#include "base/text.hpp"
#include "plan/describe.hpp"
#include "plan/plan.hpp"
#include "record/condition_core.hpp"

namespace reprise::detail {

namespace {

std::string_view entry_exit_name(const EntryExit& entry_exit) {
  if (entry_exit.entry && entry_exit.exit) return "both";
  if (entry_exit.any()) return entry_exit.entry ? "entry" : "exit";
  return "none";
}

// Writes a plan line by line, so that a change of one node affects only its lines and the totals.
class PlanText {
 public:
  PlanText(const Plan& plan, std::string& text, std::size_t indent)
      : plan_(plan), recording_(*plan.recording), text_(text), indent_(indent) {}

  void write() {
    header();
    buffers();
    line("");
    line("nodes");
    for (std::uint32_t node = 0; node < plan_.lowered.nodes.size(); ++node) lowered_node(node);
    for (const Segment& each : plan_.lowered.segments) segment(each);
    if (plan_.lowered.loop_condition != kNone)
      line("the segment repeats while b", plan_.lowered.loop_condition, " is set");
    for (std::size_t body = 0; body < plan_.bodies.size(); ++body) {
      line("");
      line("body ", body);
      PlanText(*plan_.bodies[body], text_, indent_ + 2).write();
    }
  }

 private:
  template <class... Parts>
  void line(const Parts&... parts) {
    const std::string text = concat(parts...);
    if (!text.empty()) text_.append(indent_, ' ').append(text);
    text_ += '\n';
  }

  void header() {
    const LoweredGraph& lowered = plan_.lowered;
    line("reprise plan 1");
    line("label ", quote_text(plan_.label));
    line("hash ", hex(plan_.plan_hash));
    line("lowering ", hex(plan_.lowering_hash));
    line("ordering ", ordering_name(recording_.ordering));
    line("commands ", recording_.commands.size());
    line("nodes ", lowered.nodes.size());
    line("needed edges ", plan_.dependencies.edges.size(), ", redundant ",
         plan_.dependencies.redundant_edges_left);
    line("edges ", lowered.edges.size(), ", added ", lowered.added_edges);
    line("lanes ", lowered.lanes);
    line("entry/exit ", entry_exit_name(lowered.entry_exit));
    if (lowered.fault_markers) line("fault markers yes");
    line("transient bytes ", plan_.placement.naive_bytes, ", slab ", plan_.placement.slab_bytes,
         ", lower bound ", plan_.placement.lower_bound);
    if (plan_.memory_tradeoff.goal != MemoryGoal::Speed) memory_tradeoff();
    if (plan_.costs.measured + plan_.costs.hinted != 0) costs();
  }

  void costs() {
    const CostsReport& costs = plan_.costs;
    const std::string source =
        costs.source.empty() ? "" : concat(" from ", quote_text(costs.source));
    line("command costs: ", costs.measured, " measured", source, ", ", costs.hinted, " hinted, ",
         costs.guessed, " estimated; ", plan_.lowered.by_cost ? "used for lanes" : "unused");
  }

  void memory_tradeoff() {
    const auto& [goal, before, after] = plan_.memory_tradeoff;
    line("memory goal ", goal == MemoryGoal::Minimum ? "minimum" : "balanced", ": slab ",
         before.slab_bytes, " -> ", after.slab_bytes, " bytes, critical path ",
         before.critical_path, " -> ", after.critical_path, " commands, lanes ", before.lanes,
         " -> ", after.lanes);
  }

  std::string buffer_name(std::uint32_t buffer) const {
    return concat('b', buffer, ' ', quote_text(display_name(*recording_.buffers[buffer])));
  }

  void buffers() {
    line("");
    line("buffers");
    auto placed = plan_.placement.buffers.begin();
    for (std::uint32_t i = 0; i < recording_.buffers.size(); ++i) {
      const BufferCore& buffer = *recording_.buffers[i];
      std::string offset;
      if (placed != plan_.placement.buffers.end() && placed->buffer == i) {
        offset = concat(", slab offset ", placed->offset);
        ++placed;
      }
      std::string shared;
      if (!recording_.places.empty() && recording_.places[i].memory != i) {
        shared = concat(", shares memory with ", buffer_name(recording_.places[i].memory),
                        " from offset ", recording_.places[i].offset);
      }
      line("  ", buffer_name(i), ' ', kind_name(buffer.kind), ", ", buffer.bytes, " bytes", offset,
           shared);
    }
  }

  void lowered_node(std::uint32_t node) {
    const LoweredNode& lowered = plan_.lowered.nodes[node];
    const std::string lane = plan_.lowered.lanes == 0 ? "" : concat(" lane ", lowered.lane);
    switch (lowered.kind) {
      case LoweredKind::Entry: line("  n", node, lane, " entry"); break;
      case LoweredKind::Exit: line("  n", node, lane, " exit"); break;
      case LoweredKind::Work: work(node, lane); break;
    }
    for (const LoweredEdge& edge : plan_.lowered.edges_into(node)) lowered_edge(node, edge);
    if (lowered.kind == LoweredKind::Work && plan_.lowered.lanes != 0) implied_edges(node);
  }

  void work(std::uint32_t node, const std::string& lane) {
    const std::uint32_t dependency_node = plan_.lowered.nodes[node].dependency_node;
    const std::uint32_t index = plan_.dependencies.node_command[dependency_node];
    const Command& command = recording_.commands[index];
    const std::string label =
        command.label == 0 ? "" : concat(" in ", quote_text(recording_.label_path(command.label)));
    const std::string_view join = plan_.dependencies.is_join[dependency_node] != 0 ? " join" : "";
    line("  n", node, lane, " command ", index, join, ' ',
         quote_text(recording_.command_name(index)), label);
    payload(index);
    for (std::uint32_t i = 0; i < command.access_count; ++i)
      access(recording_.accesses[command.first_access + i]);
  }

  void access(const BufferAccess& access) {
    std::string shape;
    if (access.shape != 0)
      shape = concat(" rows ", rows(recording_.shapes[access.shape - 1].extent,
                                    recording_.shapes[access.shape - 1].pitch));
    line("    ", access_name(access.access), ' ', buffer_name(access.buffer), ' ',
         range_text(access.begin, access.end), shape);
  }

  static std::string triple(const Dim3& d) { return concat(d.x, ' ', d.y, ' ', d.z); }
  static std::string rows(const Extent& extent, const Pitch& pitch) {
    return concat(extent.width, " x ", extent.height, " x ", extent.depth, " pitch ", pitch.row,
                  ' ', pitch.slice);
  }

  void payload(std::uint32_t command) {
    switch (recording_.commands[command].kind) {
      case CommandKind::Dispatch: {
        const auto& is = recording_.payload<DispatchPayload>(command);
        if (is.op != kNone) op(is.op);
        return dispatch(is);
      }
      case CommandKind::Copy: {
        const auto& copy = recording_.payload<CopyPayload>(command);
        endpoint("source", copy.source, copy.extent, copy.source_pitch);
        return endpoint("destination", copy.destination, copy.extent, copy.destination_pitch);
      }
      case CommandKind::Fill: {
        const auto& fill = recording_.payload<FillPayload>(command);
        return line("    fill with ", hex(fill.bits), ", elements of ", fill.element_bytes,
                    " bytes, ", rows(fill.extent, fill.pitch));
      }
      case CommandKind::Update:
        return line("    update of ", recording_.payload<UpdatePayload>(command).bytes, " bytes");
      case CommandKind::Host:
        return line("    callback ", recording_.payload<HostPayload>(command).function);
      case CommandKind::Op: return op(recording_.payload<OpPayload>(command).op);
      case CommandKind::Barrier: return;
      case CommandKind::Nested: return body(recording_.payload<NestedPayload>(command).body);
      case CommandKind::Conditional: {
        const auto& conditional = recording_.payload<ConditionalPayload>(command);
        const std::string limit = conditional.max_iterations == 0
                                      ? ""
                                      : concat(", max ", conditional.max_iterations, " iterations");
        line("    ", to_string(conditional.branch), ' ', buffer_name(conditional.condition),
             ", initially ", ConditionCore::of(*recording_.buffers[conditional.condition]).initial,
             limit);
        for (std::uint32_t i = 0; i < conditional.body_count; ++i) body(conditional.bodies[i]);
        return;
      }
    }
  }

  void op(std::uint32_t op) {
    const std::string& parameters = recording_.ops[op]->parameters;
    if (!parameters.empty()) line("    ", parameters);
  }

  void body(const Body& body) {
    std::string buffers;
    for (std::uint32_t i = 0; i < body.buffer_count; ++i)
      buffers += concat(i == 0 ? ", buffers b" : " b", body.buffers[i]);
    line("    body ", body.index, ' ', quote_text(recording_.bodies[body.index]->label), buffers);
  }

  void dispatch(const DispatchPayload& dispatch) {
    std::string options;
    if (dispatch.shared_bytes != 0) options += concat(", shared ", dispatch.shared_bytes);
    if (dispatch.cluster) options += concat(", cluster ", triple(*dispatch.cluster));
    if (dispatch.launch == DispatchDesc::Launch::Cooperative) options += ", cooperative";
    line("    grid ", triple(dispatch.grid), ", block ", triple(dispatch.block), options);
    for (const KernelParameter& parameter : recording_.kernels[dispatch.kernel]->parameters) {
      if (parameter.is_pointer || parameter.is_condition ||
          parameter.offset + parameter.size > dispatch.parameter_bytes)
        continue;
      std::string bytes;
      for (std::uint32_t i = 0; i < parameter.size; ++i) {
        const auto byte = std::to_integer<unsigned>(dispatch.parameters[parameter.offset + i]);
        bytes += "0123456789abcdef"[byte >> 4];
        bytes += "0123456789abcdef"[byte & 15];
      }
      line("    value at ", parameter.offset, ": ", bytes);
    }
    for (std::uint32_t i = 0; i < dispatch.slot_argument_count; ++i) {
      const SlotArgument& slot = dispatch.slot_arguments[i];
      line("    slot at ", slot.parameter_offset, ": ", quote_text(slot.name), ", ",
           slot.type->size, " bytes");
    }
  }

  void endpoint(std::string_view side, const Endpoint& endpoint, const Extent& extent,
                const Pitch& pitch) {
    const std::string_view host =
        endpoint.lifetime == HostBytes::Lifetime::Snapshot ? "snapshot" : "borrowed host memory";
    const std::string target =
        endpoint.buffer == kNone ? std::string(host) : buffer_name(endpoint.buffer);
    line("    ", side, ' ', target, " at ", endpoint.offset, ", ", rows(extent, pitch));
  }

  void lowered_edge(std::uint32_t node, const LoweredEdge& edge) {
    switch (edge.origin) {
      case EdgeOrigin::Lane: return line("    after n", edge.from, " added: lane");
      case EdgeOrigin::EntryExit: return line("    after n", edge.from, " added: entry/exit");
      case EdgeOrigin::Needed: break;
    }
    const Edge* needed =
        find_edge(plan_.dependencies, plan_.lowered.nodes[edge.from].dependency_node,
                  plan_.lowered.nodes[node].dependency_node);
    line("    after n", edge.from,
         " needed: ", needed == nullptr ? "?" : cause_text(recording_, needed->cause));
  }

  // "n4[0, 8) after n1 n2, published"
  void segment(const Segment& segment) {
    line("");
    line("segment of n", segment.first_node, " to n", segment.first_node + segment.nodes - 1, ", ",
         segment.items.size(), " items in ", segment.lists(), " lists");
    for (std::uint32_t list = 0; list < segment.lists(); ++list) {
      line("  list ", list);
      for (std::uint32_t i = segment.first_item[list]; i < segment.first_item[list + 1]; ++i) {
        const SegmentItem& item = segment.items[i];
        std::string waits = item.waits == 0 ? "" : " after";
        for (const std::uint32_t node : segment.waits_of(item)) waits += concat(" n", node);
        line("    n", item.node, '[', item.first_block, ", ", item.first_block + item.blocks, ')',
             waits, item.publishes ? ", published" : "");
      }
    }
    for (const BlockRelation& relation : segment.relations) line("  ", relation_text(relation));
  }

  // "block b of n3 needs blocks b - 1 to b + 1 of n2"
  static std::string relation_text(const BlockRelation& relation) {
    return concat("block b of n", relation.to, " needs ",
                  to_text(BlockInterval{.factor = relation.factor,
                                        .divisor = relation.divisor,
                                        .low = relation.low,
                                        .high = relation.high}),
                  " of n", relation.from);
  }

  // Lists needed edges that other edges of the lowered graph imply.
  void implied_edges(std::uint32_t node) {
    const auto edges = plan_.lowered.edges_into(node);
    for (const Edge& needed :
         plan_.dependencies.edges_into(plan_.lowered.nodes[node].dependency_node)) {
      const std::uint32_t from = plan_.lowered.node_of[needed.from];
      const bool is_kept = std::any_of(edges.begin(), edges.end(),
                                       [&](const LoweredEdge& edge) { return edge.from == from; });
      if (!is_kept) line("    implied n", from, " needed: ", cause_text(recording_, needed.cause));
    }
  }

  const Plan& plan_;
  const Recording& recording_;
  std::string& text_;
  const std::size_t indent_;  // spaces before each line: those of a body are indented
};

}  // namespace

std::string to_text(const Plan& plan) {
  std::string text;
  PlanText(plan, text, 0).write();
  return text;
}

}  // namespace reprise::detail
