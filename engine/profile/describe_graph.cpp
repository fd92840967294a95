#include "profile/describe_graph.hpp"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "plan/collectives.hpp"
#include "plan/timing_layout.hpp"
#include "record/payload.hpp"

namespace reprise::detail {

namespace {

trace::Access traced(Access access) { return static_cast<trace::Access>(access); }  // same values
static_assert(static_cast<int>(trace::Access::Read) == static_cast<int>(Access::Read));
static_assert(static_cast<int>(trace::Access::Write) == static_cast<int>(Access::Write));
static_assert(static_cast<int>(trace::Access::ReadWrite) == static_cast<int>(Access::ReadWrite));

trace::Dependency traced(Dependency dependency) {
  return dependency == Dependency::Full ? trace::Dependency::Full : trace::Dependency::Programmatic;
}

trace::BufferKind traced(BufferKind kind, BufferIdentity::Memory memory) {
  if (memory == BufferIdentity::Memory::Adopted) return trace::BufferKind::Foreign;
  switch (kind) {
    case BufferKind::Device: return trace::BufferKind::Device;
    case BufferKind::Transient: return trace::BufferKind::Transient;
    case BufferKind::PinnedHost: return trace::BufferKind::PinnedHost;
    case BufferKind::Condition: return trace::BufferKind::Foreign;  // has no memory
    case BufferKind::BorrowedHost: return trace::BufferKind::Foreign;
  }
  return trace::BufferKind::Device;
}

trace::Hazard traced(Hazard hazard) {
  switch (hazard) {
    case Hazard::ReadAfterWrite: return trace::Hazard::ReadAfterWrite;
    case Hazard::WriteAfterRead: return trace::Hazard::WriteAfterRead;
    case Hazard::WriteAfterWrite: return trace::Hazard::WriteAfterWrite;
  }
  return trace::Hazard::None;
}

trace::EdgeCause traced(CauseKind kind) {
  switch (kind) {
    case CauseKind::Hazard: return trace::EdgeCause::Hazard;
    case CauseKind::Barrier: return trace::EdgeCause::Barrier;
    case CauseKind::User: return trace::EdgeCause::User;
    case CauseKind::Linear: return trace::EdgeCause::Linear;
    case CauseKind::Captured: return trace::EdgeCause::Captured;
  }
  return trace::EdgeCause::User;
}

std::uint8_t traced(Ordering ordering) {
  switch (ordering) {
    case Ordering::Inferred: return 0;
    case Ordering::Explicit: return 1;
    case Ordering::Linear: return 2;
  }
  return 0;
}

std::uint64_t volume(const Extent& extent) { return extent.width * extent.height * extent.depth; }

void set_dim(std::uint32_t (&to)[3], const Dim3& from) {
  to[0] = from.x;
  to[1] = from.y;
  to[2] = from.z;
}

// The encoding of GraphVersion::entry_exit.
std::uint8_t traced(const EntryExit& entry_exit) {
  if (entry_exit.entry && entry_exit.exit) return 1;
  if (entry_exit.entry) return 2;
  return entry_exit.exit ? 3 : 0;
}
trace::BodyKind traced(BodyLayout::Kind kind) {
  switch (kind) {
    case BodyLayout::Kind::Nested: return trace::BodyKind::Nested;
    case BodyLayout::Kind::Then: return trace::BodyKind::Then;
    case BodyLayout::Kind::Else: return trace::BodyKind::Else;
    case BodyLayout::Kind::Loop: return trace::BodyKind::Loop;
    case BodyLayout::Kind::Case: return trace::BodyKind::Case;
  }
  return trace::BodyKind::Nested;
}

// The label of a body: the command's name and the branch.
std::string body_name(std::string command, const BodyLayout& place) {
  switch (place.kind) {
    case BodyLayout::Kind::Nested:
    case BodyLayout::Kind::Then:
    case BodyLayout::Kind::Loop: return command;
    case BodyLayout::Kind::Else: return concat(command, ", else");
    case BodyLayout::Kind::Case: return concat(command, ", case ", place.branch);
  }
  return command;
}

// One plan in the record, the outermost one or that of a body, with the positions of its elements
// in the graph.
struct Part {
  const Plan& plan;
  std::uint32_t first_node = 0, first_access = 0;
  std::uint32_t lane = 0;  // lane of all nodes of a body
  // Maps indices of the recording to the graph, as do the next two.
  std::vector<std::uint32_t> labels = {};
  std::vector<std::uint32_t> kernels = {}, buffers = {};
  std::vector<std::uint32_t> barriers = {};  // index: command

  [[nodiscard]] const Recording& recording() const { return *plan.recording; }
  [[nodiscard]] std::uint32_t command_of(std::uint32_t node) const {
    return plan.dependencies.node_command[plan.lowered.nodes[node].dependency_node];
  }
};

class GraphDescriber {
 public:
  GraphDescriber(const Plan& plan, const GraphIdentity& identity)
      : plan_(plan), identity_(identity), slots_(timing_layout(plan)) {}

  trace::GraphVersion describe() {
    describe_plan();
    graph_.nodes.reserve(slots_.nodes);
    Part own{.plan = plan_};
    describe_labels(own, trace::kNone);
    describe_buffers(own);
    describe_part(std::move(own));
    const std::vector<const Plan*> plans = body_plans(plan_);
    for (std::uint32_t i = 0; i < plans.size(); ++i) describe_body(slots_.bodies[i], *plans[i]);
    if (collectives_ != 0) describe_collectives(0);
    std::sort(
        graph_.collectives.begin(), graph_.collectives.end(),
        [](const trace::Collective& a, const trace::Collective& b) { return a.node < b.node; });
    std::sort(graph_.edges.begin(), graph_.edges.end(),
              [](const trace::Edge& a, const trace::Edge& b) {
                return a.to != b.to ? a.to < b.to : a.from < b.from;
              });
    return std::move(graph_);
  }

 private:
  std::uint32_t text(std::string value) {
    const auto [at, is_new] =
        strings_.try_emplace(std::move(value), static_cast<std::uint32_t>(graph_.strings.size()));
    if (is_new) graph_.strings.push_back(at->first);
    return at->second;
  }

  void describe_plan() {
    static_cast<void>(text(""));
    graph_.graph = identity_.graph;
    graph_.version = identity_.version;
    graph_.device = identity_.device;
    graph_.label = plan_.label;
    graph_.plan_hash = plan_.plan_hash;
    graph_.lowering_hash = plan_.lowering_hash;
    graph_.lanes = plan_.lowered.lanes;
    graph_.entry_exit = traced(plan_.lowered.entry_exit);
    graph_.ordering = traced(plan_.recording->ordering);
    graph_.naive_bytes = plan_.placement.naive_bytes;
    graph_.slab_bytes = plan_.placement.slab_bytes;
    graph_.lower_bound_bytes = plan_.placement.lower_bound;
    graph_.compiled = identity_.compiled;
    graph_.compile_time = identity_.compile_time;
    graph_.instantiate_time = identity_.instantiate_time;
    for (const Segment& segment : plan_.lowered.segments) {
      graph_.segments.push_back({segment.first_node, segment.nodes, segment.lists(),
                                 static_cast<std::uint32_t>(segment.items.size())});
      for (const BlockRelation& of : segment.relations)
        graph_.block_relations.push_back({of.from, of.to, of.factor, of.divisor, of.low, of.high});
    }
  }

  // Everything except labels and buffers, which a body inherits from the containing part.
  void describe_part(Part part) {
    describe_kernels(part);
    describe_barriers(part);
    part.first_access = static_cast<std::uint32_t>(graph_.accesses.size());
    const std::uint8_t is_inferred = part.recording().origin == RecordingOrigin::ReadBack ? 1 : 0;
    for (const BufferAccess& access : part.recording().accesses) {
      graph_.accesses.push_back({part.buffers[access.buffer], traced(access.access), is_inferred,
                                 access.begin, access.end});
    }
    for (std::uint32_t node = 0; node < part.plan.lowered.nodes.size(); ++node)
      describe_node(part, node);
    describe_edges(part);
    parts_.push_back(std::move(part));
  }

  void describe_body(const BodyLayout& place, const Plan& plan) {
    const Part& owner = parts_[place.owner == kNone ? 0 : place.owner + 1];
    const std::uint32_t command = owner.command_of(place.parent - owner.first_node);
    const Command& runs = owner.recording().commands[command];
    Part part{
        .plan = plan, .first_node = place.first_node, .lane = graph_.nodes[place.parent].lane};
    graph_.labels.push_back({owner.labels[runs.label],
                             text(body_name(owner.recording().command_name(command), place)), 0});
    describe_labels(part, static_cast<std::uint32_t>(graph_.labels.size() - 1));
    const Body& body = bodies_of(runs)[place.branch];
    for (std::uint32_t i = 0; i < body.buffer_count; ++i)
      part.buffers.push_back(owner.buffers[body.buffers[i]]);
    graph_.bodies.push_back(
        {place.parent, place.branch, place.first_node, place.nodes, traced(place.kind)});
    describe_part(std::move(part));
  }

  // `root`: the graph's label that replaces the recording's root label; kNone: keep the root.
  void describe_labels(Part& part, std::uint32_t root) {
    for (const LabelRecord& label : part.recording().labels) {
      if (part.labels.empty() && root != trace::kNone) {
        part.labels.push_back(root);
        continue;
      }
      const std::uint32_t color = (std::uint32_t{label.color.r} << 16) |
                                  (std::uint32_t{label.color.g} << 8) | label.color.b;
      const std::uint32_t parent = part.labels.empty() ? 0 : part.labels[label.parent];
      part.labels.push_back(static_cast<std::uint32_t>(graph_.labels.size()));
      graph_.labels.push_back({parent, text(label.name), color});
    }
  }

  void describe_kernels(Part& part) {
    for (const auto& kernel : part.recording().kernels) {
      const auto [at, is_new] =
          kernels_.try_emplace(kernel.get(), static_cast<std::uint32_t>(graph_.kernels.size()));
      part.kernels.push_back(at->second);
      if (!is_new) continue;
      const std::uint32_t name = text(kernel->name);
      graph_.kernels.push_back({name, name, 0, kernel->static_shared_bytes});
    }
  }

  void describe_buffers(Part& part) {
    for (std::size_t i = 0; i < part.recording().buffers.size(); ++i) {
      const BufferCore& buffer = *part.recording().buffers[i];
      const BufferIdentity identity =
          i < identity_.buffers.size() ? identity_.buffers[i] : BufferIdentity{};
      part.buffers.push_back(static_cast<std::uint32_t>(i));
      graph_.buffers.push_back({text(display_name(buffer)), traced(buffer.kind, identity.memory),
                                identity.buffer, identity.pool, buffer.bytes, 0});
    }
    for (const PlacedBuffer& placed : plan_.placement.buffers)
      graph_.buffers[placed.buffer].offset = placed.offset;
  }

  void describe_barriers(Part& part) {
    const Recording& recording = part.recording();
    part.barriers.assign(recording.commands.size(), trace::kNone);
    for (std::uint32_t command = 0; command < recording.commands.size(); ++command) {
      const Command& c = recording.commands[command];
      if (c.kind != CommandKind::Barrier) continue;
      const auto& payload = recording.payload<BarrierPayload>(command);
      trace::Barrier barrier;
      barrier.command = command;
      barrier.label = part.labels[c.label];
      barrier.file = text(c.where.file);
      barrier.line = c.where.line;
      barrier.buffer = payload.buffer == kNone ? trace::kNone : part.buffers[payload.buffer];
      barrier.begin = payload.begin;
      barrier.end = payload.end;
      barrier.before = traced(payload.before);
      barrier.after = traced(payload.after);
      barrier.dependency = traced(payload.dependency);
      part.barriers[command] = static_cast<std::uint32_t>(graph_.barriers.size());
      graph_.barriers.push_back(barrier);
    }
  }

  void describe_node(const Part& part, std::uint32_t index) {
    const LoweredNode& lowered = part.plan.lowered.nodes[index];
    trace::Node node;
    node.lane = part.first_node == 0 ? lowered.lane : part.lane;
    switch (lowered.kind) {
      case LoweredKind::Entry:
        node.kind = trace::NodeKind::Entry;
        node.name = text("entry");
        break;
      case LoweredKind::Exit:
        node.kind = trace::NodeKind::Exit;
        node.name = text("exit");
        break;
      case LoweredKind::Work: describe_command(part, part.command_of(index), node); break;
    }
    graph_.nodes.push_back(node);
  }

  void describe_command(const Part& part, std::uint32_t index, trace::Node& node) {
    const Recording& recording = part.recording();
    const Command& command = recording.commands[index];
    node.command = index;
    node.label = part.labels[command.label];
    node.file = text(command.where.file);
    node.line = command.where.line;
    node.first_access = part.first_access + command.first_access;
    node.access_count = command.access_count;
    switch (command.kind) {
      case CommandKind::Dispatch: {
        const auto& dispatch = recording.payload<DispatchPayload>(index);
        node.kind = trace::NodeKind::Dispatch;
        node.kernel = part.kernels[dispatch.kernel];
        set_dim(node.grid, dispatch.grid);
        set_dim(node.block, dispatch.block);
        node.shared_bytes = dispatch.shared_bytes;
        break;
      }
      case CommandKind::Copy:
        node.kind = trace::NodeKind::Copy;
        node.bytes = volume(recording.payload<CopyPayload>(index).extent);
        break;
      case CommandKind::Fill:
        node.kind = trace::NodeKind::Fill;
        node.bytes = volume(recording.payload<FillPayload>(index).extent);
        break;
      case CommandKind::Update:
        node.kind = trace::NodeKind::Update;
        node.bytes = recording.payload<UpdatePayload>(index).bytes;
        break;
      case CommandKind::Host: node.kind = trace::NodeKind::Host; break;
      case CommandKind::Op: node.kind = trace::NodeKind::Child; break;
      case CommandKind::Barrier: node.kind = trace::NodeKind::Join; break;
      case CommandKind::Nested: node.kind = trace::NodeKind::Child; break;
      case CommandKind::Conditional: node.kind = trace::NodeKind::Conditional; break;
    }
    node.name = text(recording.traced_name(index));
  }

  void describe_edges(const Part& part) {
    const LoweredGraph& lowered = part.plan.lowered;
    graph_.edges.reserve(graph_.edges.size() + part.plan.dependencies.edges.size() +
                         lowered.added_edges);
    for (const Edge& edge : part.plan.dependencies.edges) {
      trace::Edge e;
      e.from = part.first_node + lowered.node_of[edge.from];
      e.to = part.first_node + lowered.node_of[edge.to];
      e.cause = traced(edge.cause.kind);
      e.buffer = edge.cause.buffer == kNone ? trace::kNone : part.buffers[edge.cause.buffer];
      e.begin = edge.cause.begin;
      e.end = edge.cause.end;
      if (edge.cause.kind == CauseKind::Hazard) e.hazard = traced(edge.cause.hazard);
      if (edge.cause.kind == CauseKind::Barrier) {
        e.barrier = part.barriers[edge.cause.barrier];
        ++graph_.barriers[e.barrier].edges;
      }
      graph_.edges.push_back(e);
    }
    for (std::uint32_t to = 0; to < lowered.nodes.size(); ++to) {
      for (const LoweredEdge& edge : lowered.edges_into(to)) {
        if (edge.origin == EdgeOrigin::Needed) continue;
        trace::Edge e;
        e.from = part.first_node + edge.from;
        e.to = part.first_node + to;
        e.cause =
            edge.origin == EdgeOrigin::Lane ? trace::EdgeCause::Lane : trace::EdgeCause::EntryExit;
        graph_.edges.push_back(e);
      }
    }
  }

  // In the recorded order, which is the same on all ranks; lowered orders may differ.
  void describe_collectives(std::size_t index) {
    const Part& part = parts_[index];
    std::vector<std::uint32_t> nodes(part.recording().commands.size(), kNone);
    for (std::uint32_t i = 0; i < part.plan.lowered.nodes.size(); ++i)
      if (part.plan.lowered.nodes[i].kind == LoweredKind::Work)
        nodes[part.command_of(i)] = part.first_node + i;
    for (std::uint32_t command = 0; command < nodes.size(); ++command) {
      if (nodes[command] == kNone) continue;
      if (part.recording().commands[command].kind == CommandKind::Op)
        describe_collective(
            *part.recording().ops[part.recording().payload<OpPayload>(command).op]->op,
            nodes[command]);
      for (std::uint32_t body = slots_.first_body(nodes[command]);
           body < slots_.bodies.size() && slots_.bodies[body].parent == nodes[command]; ++body)
        describe_collectives(body + 1);
    }
  }

  void describe_collective(const GraphOp& op, std::uint32_t node) {
    const RankAgreement* const ranks = ranks_of(op);
    if (ranks == nullptr) return;
    const RankAgreement::Traced traced = ranks->traced(op, collectives_);
    if (traced.size == 0) return;
    graph_.collectives.push_back({node, static_cast<trace::CollectiveKind>(traced.kind),
                                  traced.size, traced.rank, traced.peer, traced.communicator,
                                  traced.number, collective_counts_[traced.communicator]++,
                                  traced.bytes});
  }

  const Plan& plan_;
  const GraphIdentity& identity_;
  const std::uint64_t collectives_ = launched_collectives(*plan_.recording).hash;
  const TimingLayout slots_;
  trace::GraphVersion graph_;
  std::vector<Part> parts_;  // in order: the outermost part, then bodies
  std::unordered_map<std::string, std::uint32_t> strings_;
  std::unordered_map<const KernelCore*, std::uint32_t> kernels_;
  std::unordered_map<std::uint64_t, std::uint32_t> collective_counts_;  // by communicator
};

}  // namespace

trace::GraphVersion describe_graph(const Plan& plan, const GraphIdentity& identity) {
  return GraphDescriber(plan, identity).describe();
}

}  // namespace reprise::detail
