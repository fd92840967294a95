#include "profile/describe_graph.hpp"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace reprise::detail {

namespace {

trace::Access traced(Access access) { return static_cast<trace::Access>(access); }  // the same numbers
static_assert(static_cast<int>(trace::Access::Read) == static_cast<int>(Access::Read));
static_assert(static_cast<int>(trace::Access::Write) == static_cast<int>(Access::Write));
static_assert(static_cast<int>(trace::Access::ReadWrite) == static_cast<int>(Access::ReadWrite));

trace::BufferKind traced(BufferKind kind, BufferIdentity::Memory memory) {
  if (memory == BufferIdentity::Memory::Adopted) return trace::BufferKind::Foreign;
  switch (kind) {
    case BufferKind::Device: return trace::BufferKind::Device;
    case BufferKind::Transient: return trace::BufferKind::Transient;
    case BufferKind::PinnedHost: return trace::BufferKind::PinnedHost;
    case BufferKind::Condition: return trace::BufferKind::Foreign;  // no memory of ours
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

class GraphDescriber {
 public:
  GraphDescriber(const Plan& plan, const GraphIdentity& identity) : plan_(plan), recording_(*plan.recording), identity_(identity) {}

  trace::GraphVersion describe() {
    describe_plan();
    describe_labels();
    describe_kernels();
    describe_buffers();
    describe_barriers();
    const std::uint8_t is_inferred = recording_.origin == RecordingOrigin::ReadBack ? 1 : 0;
    for (const BufferAccess& access : recording_.accesses) {
      graph_.accesses.push_back({access.buffer, traced(access.access), is_inferred, access.begin, access.end});
    }
    graph_.nodes.reserve(plan_.lowered.nodes.size());
    for (const LoweredNode& node : plan_.lowered.nodes) describe_node(node);
    describe_edges();
    return std::move(graph_);
  }

 private:
  std::uint32_t text(std::string words) {
    const auto [at, is_new] = strings_.try_emplace(std::move(words), static_cast<std::uint32_t>(graph_.strings.size()));
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
    graph_.frame = plan_.lowered.frame ? 1 : 0;
    graph_.ordering = traced(recording_.ordering);
    graph_.naive_bytes = plan_.placement.naive_bytes;
    graph_.slab_bytes = plan_.placement.slab_bytes;
    graph_.bound_bytes = plan_.placement.lower_bound;
    graph_.compiled = identity_.compiled;
    graph_.compile_time = identity_.compile_time;
    graph_.instantiate_time = identity_.instantiate_time;
  }

  void describe_labels() {
    for (const LabelRecord& label : recording_.labels) {
      const std::uint32_t color = (std::uint32_t{label.color.r} << 16) | (std::uint32_t{label.color.g} << 8) | label.color.b;
      graph_.labels.push_back({label.parent, text(label.name), color});
    }
  }

  void describe_kernels() {
    for (const auto& kernel : recording_.kernels) {
      const std::uint32_t name = text(kernel->name);
      graph_.kernels.push_back({name, name, 0, kernel->static_shared_bytes});
    }
  }

  void describe_buffers() {
    for (std::size_t i = 0; i < recording_.buffers.size(); ++i) {
      const BufferCore& buffer = *recording_.buffers[i];
      const BufferIdentity identity = i < identity_.buffers.size() ? identity_.buffers[i] : BufferIdentity{};
      graph_.buffers.push_back({text(display_name(buffer)), traced(buffer.kind, identity.memory), identity.buffer, identity.pool, buffer.bytes, 0});
    }
    for (const PlacedBuffer& placed : plan_.placement.buffers) graph_.buffers[placed.buffer].offset = placed.offset;
  }

  void describe_barriers() {
    barrier_of_.assign(recording_.commands.size(), trace::kNone);
    for (std::uint32_t command = 0; command < recording_.commands.size(); ++command) {
      const Command& c = recording_.commands[command];
      if (c.kind != CommandKind::Barrier) continue;
      const auto& payload = recording_.payload<BarrierPayload>(command);
      trace::Barrier barrier;
      barrier.command = command;
      barrier.label = c.label;
      barrier.file = text(c.where.file);
      barrier.line = c.where.line;
      barrier.buffer = payload.buffer;
      barrier.begin = payload.begin;
      barrier.end = payload.end;
      barrier.before = traced(payload.before);
      barrier.after = traced(payload.after);
      barrier_of_[command] = static_cast<std::uint32_t>(graph_.barriers.size());
      graph_.barriers.push_back(barrier);
    }
  }

  void describe_node(const LoweredNode& lowered) {
    trace::Node node;
    node.lane = lowered.lane;
    switch (lowered.kind) {
      case LoweredKind::FrameBegin:
        node.kind = trace::NodeKind::FrameBegin;
        node.name = text("frame begin");
        break;
      case LoweredKind::FrameEnd:
        node.kind = trace::NodeKind::FrameEnd;
        node.name = text("frame end");
        break;
      case LoweredKind::Work: describe_command(plan_.schedule.node_command[lowered.schedule_node], node); break;
    }
    graph_.nodes.push_back(node);
  }

  void describe_command(std::uint32_t index, trace::Node& node) {
    const Command& command = recording_.commands[index];
    node.command = index;
    node.label = command.label;
    node.file = text(command.where.file);
    node.line = command.where.line;
    node.first_access = command.first_access;
    node.access_count = command.access_count;
    switch (command.kind) {
      case CommandKind::Dispatch: {
        const auto& dispatch = recording_.payload<DispatchPayload>(index);
        node.kind = trace::NodeKind::Dispatch;
        node.name = graph_.kernels[dispatch.kernel].name;
        node.kernel = dispatch.kernel;
        set_dim(node.grid, dispatch.grid);
        set_dim(node.block, dispatch.block);
        node.shared_bytes = dispatch.shared_bytes;
        return;
      }
      case CommandKind::Copy:
        node.kind = trace::NodeKind::Copy;
        node.bytes = volume(recording_.payload<CopyPayload>(index).extent);
        break;
      case CommandKind::Fill:
        node.kind = trace::NodeKind::Fill;
        node.bytes = volume(recording_.payload<FillPayload>(index).extent);
        break;
      case CommandKind::Update:
        node.kind = trace::NodeKind::Update;
        node.bytes = recording_.payload<UpdatePayload>(index).bytes;
        break;
      case CommandKind::Host: node.kind = trace::NodeKind::Host; break;
      case CommandKind::Op: node.kind = trace::NodeKind::Child; break;
      case CommandKind::Barrier: node.kind = trace::NodeKind::Join; break;
      case CommandKind::Nested: node.kind = trace::NodeKind::Child; break;
      case CommandKind::Conditional: node.kind = trace::NodeKind::Conditional; break;
    }
    node.name = text(recording_.command_name(index));
  }

  void describe_edges() {
    const LoweredGraph& lowered = plan_.lowered;
    graph_.edges.reserve(plan_.schedule.edges.size() + lowered.added_edges);
    for (const Edge& edge : plan_.schedule.edges) {
      trace::Edge e;
      e.from = lowered.node_of[edge.from];
      e.to = lowered.node_of[edge.to];
      e.cause = traced(edge.cause.kind);
      e.buffer = edge.cause.buffer;
      e.begin = edge.cause.begin;
      e.end = edge.cause.end;
      if (edge.cause.kind == CauseKind::Hazard) e.hazard = traced(edge.cause.hazard);
      if (edge.cause.kind == CauseKind::Barrier) {
        e.barrier = barrier_of_[edge.cause.barrier];
        ++graph_.barriers[e.barrier].edges;
      }
      graph_.edges.push_back(e);
    }
    for (std::uint32_t to = 0; to < lowered.nodes.size(); ++to) {
      for (const LoweredEdge& edge : lowered.edges_into(to)) {
        if (edge.origin == EdgeOrigin::Needed) continue;
        trace::Edge e;
        e.from = edge.from;
        e.to = to;
        e.cause = edge.origin == EdgeOrigin::Lane ? trace::EdgeCause::Lane : trace::EdgeCause::Frame;
        graph_.edges.push_back(e);
      }
    }
    std::sort(graph_.edges.begin(), graph_.edges.end(),
              [](const trace::Edge& a, const trace::Edge& b) { return a.to != b.to ? a.to < b.to : a.from < b.from; });
  }

  const Plan& plan_;
  const Recording& recording_;
  const GraphIdentity& identity_;
  trace::GraphVersion graph_;
  std::unordered_map<std::string, std::uint32_t> strings_;
  std::vector<std::uint32_t> barrier_of_;  // command -> in graph_.barriers
};

}  // namespace

trace::GraphVersion describe_graph(const Plan& plan, const GraphIdentity& identity) { return GraphDescriber(plan, identity).describe(); }

}  // namespace reprise::detail
