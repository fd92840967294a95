#include <algorithm>
#include <cmath>
#include <string>
#include <type_traits>
#include <utility>

#include "trace/codec.hpp"
#include "trace/sample_columns.hpp"
#include "trace/schema_generated.h"
#include "trace/trace_error.hpp"

namespace reprise::trace {

namespace {

// Maps an unknown enumerator to `last`, which is the kind's catch-all or its most conservative
// value.
template <class Enum>
Enum enumerator(std::uint8_t value, Enum last) {
  return value <= static_cast<std::uint8_t>(last) ? static_cast<Enum>(value) : last;
}

// Bytes that decode() and consumers of its result may still allocate. Without this limit a small
// chunk whose records all refer to one long string would fill the memory.
thread_local std::uint64_t decode_budget = 0;

thread_local std::uint64_t decode_limit = 0;  // the budget at the start

std::uint64_t budget_of(std::size_t raw_bytes) {
  constexpr std::uint64_t kBase = 16u << 20, kPerByte = 64, kMax = std::uint64_t{2} << 30;
  return std::min(kBase + kPerByte * raw_bytes, kMax);
}

void spend(std::uint64_t bytes) {
  if (bytes > decode_budget) {
    throw TraceError(TraceErrorCode::TooLarge, "a chunk decodes to more than " +
                                                   std::to_string(decode_limit) +
                                                   " bytes, the limit for its size");
  }
  decode_budget -= bytes;
}

std::string text(const flatbuffers::String* s) {
  if (!s) return {};
  spend(s->size());
  return s->str();
}

// Rejects times and durations beyond 95 years, which no clock shows before 2065, so that consumers
// can subtract two of them and add a third.
Time time(Time t) {
  constexpr Time kMax = 3'000'000'000'000'000'000;
  if (t < -kMax || t > kMax)
    throw_corrupt("a time of " + std::to_string(t) + " ns is out of range");
  return t;
}

Clock from_wire(const wire::Clock& w) {
  return {w.device(), time(w.host()), time(w.other()), time(w.error())};
}
ClockExchange from_wire(const wire::ClockExchange& w) {
  return {w.rank(), time(w.sent()), time(w.received()), time(w.other())};
}
ClockAlignment from_wire(const wire::ClockAlignment& w) {
  // No clock gains or loses a thousandth.
  if (!(std::abs(w.drift()) <= 1e-3))
    throw_corrupt("a clock that drifts by " + std::to_string(w.drift()));
  return {w.session(), w.reference(),   time(w.at()),  time(w.offset()),
          w.drift(),   time(w.error()), w.exchanges(), w.collectives()};
}
Collective from_wire(const wire::Collective& w) {
  return {w.node(),   enumerator(w.kind(), CollectiveKind::Group),
          w.ranks(),  w.rank(),
          w.peer(),   w.communicator(),
          w.number(), w.index(),
          w.bytes()};
}
Label from_wire(const wire::Label& w) { return {w.parent(), w.name(), w.color()}; }
Kernel from_wire(const wire::Kernel& w) {
  return {w.name(), w.full_name(), w.registers(), w.static_shared_bytes()};
}
Buffer from_wire(const wire::Buffer& w) {
  return {w.name(),  enumerator(w.kind(), BufferKind::Foreign), w.id(), w.pool(), w.bytes(),
          w.offset()};
}
NodeAccess from_wire(const wire::NodeAccess& w) {
  return {w.buffer(), enumerator(w.access(), Access::ReadWrite), w.inferred(), w.begin(), w.end()};
}
Barrier from_wire(const wire::Barrier& w) {
  return {w.command(),
          w.label(),
          w.file(),
          w.line(),
          w.buffer(),
          w.begin(),
          w.end(),
          enumerator(w.before(), Access::ReadWrite),
          enumerator(w.after(), Access::ReadWrite),
          w.edges(),
          enumerator(w.dependency(), Dependency::Programmatic)};
}
Node from_wire(const wire::Node& w) {
  Node n;
  n.kind = enumerator(w.kind(), NodeKind::Other);
  n.name = w.name();
  n.label = w.label();
  n.kernel = w.kernel();
  n.lane = w.lane();
  n.command = w.command();
  n.file = w.file();
  n.line = w.line();
  n.first_access = w.first_access();
  n.access_count = w.access_count();
  n.grid[0] = w.grid_x();
  n.grid[1] = w.grid_y();
  n.grid[2] = w.grid_z();
  n.block[0] = w.block_x();
  n.block[1] = w.block_y();
  n.block[2] = w.block_z();
  n.shared_bytes = w.shared_bytes();
  n.bytes = w.bytes();
  return n;
}
Edge from_wire(const wire::Edge& w) {
  return {w.from(),
          w.to(),
          enumerator(w.cause(), EdgeCause::Captured),
          enumerator(w.hazard(), Hazard::WriteAfterWrite),
          w.buffer(),
          w.barrier(),
          w.begin(),
          w.end()};
}
Replay from_wire(const wire::Replay& w) {
  return {w.graph(),
          w.version(),
          w.exec(),
          w.queue(),
          w.replay(),
          time(w.launched()),
          time(w.launch_returned()),
          time(w.started()),
          time(w.ended()),
          w.thread(),
          w.sampled()};
}
Body from_wire(const wire::Body& w) {
  return {w.parent(), w.branch(), w.first_node(), w.nodes(), enumerator(w.kind(), BodyKind::Case)};
}
Segment from_wire(const wire::Segment& w) {
  return {w.first_node(), w.nodes(), w.lists(), w.items()};
}
LoopRun from_wire(const wire::LoopRun& w) {
  return {w.graph(), w.version(), w.body(), w.replay(), w.iterations(), w.timed()};
}
ProfilingOverhead from_wire(const wire::ProfilingOverhead& w) {
  return {time(w.from()), time(w.to()), w.mode(), time(w.host()), time(w.device())};
}

Session from_wire(const wire::Session& w) {
  return {text(w.host()),
          w.pid(),
          time(w.process_start_utc()),
          w.rank(),
          text(w.application()),
          text(w.command_line()),
          text(w.engine_version()),
          w.ranks(),
          text(w.job()),
          text(w.clock())};
}
Device from_wire(const wire::Device& w) {
  Device d{w.id(),           text(w.name()),      text(w.selector()), {},
           w.memory_bytes(), w.multiprocessors(), w.session()};
  if (w.uuid() && w.uuid()->size() == d.uuid.size())
    std::copy(w.uuid()->begin(), w.uuid()->end(), d.uuid.begin());
  return d;
}
Queue from_wire(const wire::Queue& w) { return {w.id(), w.device(), text(w.label())}; }
SampleBlock from_wire(const wire::SampleBlock& w) {
  SampleBlock b{
      w.graph(), w.version(), w.exec(), w.replay(), enumerator(w.source(), SampleSource::Cupti),
      {}};
  if (w.columns()) {
    // More samples than bytes: decode_samples() reports it.
    spend(std::uint64_t{std::min(w.count(), w.columns()->size())} * sizeof(Sample));
    b.samples = decode_samples({w.columns()->data(), w.columns()->size()}, w.count());
    for (const Sample& sample : b.samples) static_cast<void>(time(sample.started));
  } else if (w.count() != 0) {
    throw_corrupt("a block of samples without columns");
  }
  return b;
}
HostRange from_wire(const wire::HostRange& w) {
  return {w.thread(),     w.depth(), time(w.started()), time(w.ended()),
          text(w.name()), w.graph(), w.replay()};
}
ThreadName from_wire(const wire::ThreadName& w) {
  return {w.thread(), text(w.name()), w.session()};
}
PoolState from_wire(const wire::PoolState& w) {
  PoolState p{w.pool(),    w.device(),       time(w.at()),  text(w.label()),
              w.buffers(), w.device_bytes(), w.host_bytes()};
  p.budget = w.budget();
  p.reserved = w.reserved();
  p.mapped = w.mapped();
  p.peak = w.peak();
  p.slabs = w.slabs();
  p.trims = w.trims();
  p.remaps = w.remaps();
  p.shared_slabs = w.shared_slabs();
  p.freed = w.freed();
  p.freed_bytes = w.freed_bytes();
  return p;
}
PoolUse from_wire(const wire::PoolUse& w) {
  return {w.pool(), w.graph(), enumerator(w.role(), PoolRole::Sharer), time(w.from()),
          time(w.to())};
}
Ended from_wire(const wire::Ended& w) {
  return {time(w.at()), enumerator(w.kind(), ObjectKind::Pool), w.id()};
}
CreationCost from_wire(const wire::CreationCost& w) {
  return {w.graph(),         time(w.at()),    time(w.capture_time()), time(w.launch_time()),
          w.capture_bytes(), w.launch_bytes()};
}
DeviceTotals from_wire(const wire::DeviceTotals& w) {
  return {w.device(),  time(w.at()), w.budget(),       w.reserved(), w.mapped(), w.peak(),
          w.buffers(), w.slabs(),    w.shared_slabs(), w.trims(),    w.remaps()};
}
BufferLifetime from_wire(const wire::BufferLifetime& w) {
  return {
      w.buffer(),    w.pool(),    w.device(),          enumerator(w.kind(), BufferKind::Foreign),
      w.bytes(),     w.address(), time(w.allocated()), time(w.freed()),
      text(w.name())};
}
Message from_wire(const wire::Message& w) {
  return {time(w.at()), enumerator(w.severity(), Severity::Error),
          text(w.id()), text(w.text()),
          w.graph(),    w.version(),
          w.command(),  w.other_command(),
          w.session()};
}
Update from_wire(const wire::Update& w) {
  return {time(w.at()), w.graph(), w.from_version(), w.to_version(), text(w.description())};
}
Loss from_wire(const wire::Loss& w) {
  return {time(w.at()), enumerator(w.kind(), LossKind::NodeRuns), w.count(), text(w.reason()),
          w.session()};
}

template <class Out, class Vector>
void convert(std::vector<Out>& out, const Vector* in);

// The index of the body that holds the node; kNone: the outermost graph.
std::uint32_t body_of(const GraphVersion& g, std::uint32_t node) {
  const auto after =
      std::upper_bound(g.bodies.begin(), g.bodies.end(), node,
                       [](std::uint32_t n, const Body& body) { return n < body.first_node; });
  return static_cast<std::uint32_t>(after - g.bodies.begin()) - 1;
}

// Every index of a graph version must be within its vector; parents and edge sources must precede.
void check_indices(const GraphVersion& g) {
  const std::string where =
      "graph " + std::to_string(g.graph) + " version " + std::to_string(g.version) + ": ";
  const auto inside = [&](std::uint64_t index, std::size_t size, const char* what) {
    if (index >= size)
      throw_corrupt(where + what + ": index " + std::to_string(index) + " of " +
                    std::to_string(size));
  };
  const auto inside_or_none = [&](std::uint32_t index, std::size_t size, const char* what) {
    if (index != kNone) inside(index, size, what);
  };
  inside(0, g.strings.size(), "string");
  inside(0, g.labels.size(), "label");
  for (std::size_t i = 0; i < g.labels.size(); ++i) {
    inside(g.labels[i].name, g.strings.size(), "name of a label");
    if (i == 0 ? g.labels[i].parent != 0 : g.labels[i].parent >= i)
      throw_corrupt(where + "a label that does not follow its parent");
  }
  for (const Kernel& k : g.kernels) {
    inside(k.name, g.strings.size(), "name of a kernel");
    inside(k.full_name, g.strings.size(), "full name of a kernel");
  }
  for (const Buffer& b : g.buffers) inside(b.name, g.strings.size(), "name of a buffer");
  for (const NodeAccess& a : g.accesses) {
    inside(a.buffer, g.buffers.size(), "buffer of an access");
    if (a.end < a.begin) throw_corrupt(where + "an access whose end precedes its start");
  }
  for (const Barrier& b : g.barriers) {
    inside_or_none(b.buffer, g.buffers.size(), "buffer of a barrier");
    inside(b.label, g.labels.size(), "label of a barrier");
    inside(b.file, g.strings.size(), "file of a barrier");
  }
  std::uint64_t accesses = 0;  // of all nodes; no two nodes share one
  for (const Node& n : g.nodes) {
    inside(n.name, g.strings.size(), "name of a node");
    inside(n.label, g.labels.size(), "label of a node");
    inside(n.file, g.strings.size(), "file of a node");
    inside_or_none(n.kernel, g.kernels.size(), "kernel of a node");
    if (std::uint64_t{n.first_access} + n.access_count > g.accesses.size())
      throw_corrupt(where + "accesses of a node");
    accesses += n.access_count;
  }
  if (accesses > g.accesses.size()) throw_corrupt(where + "accesses that several nodes claim");
  for (const Edge& e : g.edges) {
    inside(e.to, g.nodes.size(), "end of an edge");
    inside(e.from, g.nodes.size(), "start of an edge");
    if (e.from >= e.to) throw_corrupt(where + "an edge against the node order");
    inside_or_none(e.buffer, g.buffers.size(), "buffer of an edge");
    inside_or_none(e.barrier, g.barriers.size(), "barrier of an edge");
  }
  std::uint64_t next = g.bodies.empty() ? g.nodes.size() : g.bodies.front().first_node;
  for (const Body& body : g.bodies) {
    if (body.first_node != next || body.parent >= body.first_node)
      throw_corrupt(where + "a body that does not follow its parent and the previous body");
    next += body.nodes;
  }
  if (next != g.nodes.size()) throw_corrupt(where + "bodies that do not cover all nodes");
  std::uint64_t end = 0;
  const std::size_t own_nodes = g.bodies.empty() ? g.nodes.size() : g.bodies.front().first_node;
  for (const Segment& segment : g.segments) {
    if (segment.first_node < end || segment.nodes == 0)
      throw_corrupt(where + "a segment that does not follow the previous one");
    end = std::uint64_t{segment.first_node} + segment.nodes;
    inside(end - 1, own_nodes, "end of a segment");
  }
  for (std::size_t i = 0; i < g.collectives.size(); ++i) {
    inside(g.collectives[i].node, g.nodes.size(), "node of a collective");
    if (i != 0 && g.collectives[i].node <= g.collectives[i - 1].node)
      throw_corrupt(where + "a collective that does not follow the previous one");
  }
  for (const Edge& e : g.edges) {
    if (body_of(g, e.from) != body_of(g, e.to))
      throw_corrupt(where + "an edge between nodes of different bodies");
  }
}

// Consumers write out the name and the label path of each node.
void spend_names(const GraphVersion& g) {
  std::vector<std::uint64_t> path_bytes(g.labels.size(), 0);
  for (std::size_t i = 1; i < g.labels.size(); ++i) {
    constexpr std::uint64_t kSeparator = 3;
    path_bytes[i] =
        path_bytes[g.labels[i].parent] + g.strings[g.labels[i].name].size() + kSeparator;
  }
  for (const Node& n : g.nodes) spend(g.strings[n.name].size() + path_bytes[n.label]);
}

GraphVersion from_wire(const wire::GraphVersion& w) {
  GraphVersion g;
  g.graph = w.graph();
  g.version = w.version();
  g.device = w.device();
  g.label = text(w.label());
  g.plan_hash = w.plan_hash();
  g.lowering_hash = w.lowering_hash();
  g.lanes = w.lanes();
  g.entry_exit = w.entry_exit();
  g.ordering = w.ordering();
  g.naive_bytes = w.naive_bytes();
  g.slab_bytes = w.slab_bytes();
  g.lower_bound_bytes = w.lower_bound_bytes();
  g.compiled = time(w.compiled());
  g.compile_time = time(w.compile_time());
  g.instantiate_time = time(w.instantiate_time());
  if (w.strings()) {
    spend(std::uint64_t{w.strings()->size()} * sizeof(std::string));
    g.strings.reserve(w.strings()->size());
    for (const flatbuffers::String* s : *w.strings()) g.strings.push_back(text(s));
  }
  convert(g.labels, w.labels());
  convert(g.kernels, w.kernels());
  convert(g.buffers, w.buffers());
  convert(g.accesses, w.accesses());
  convert(g.barriers, w.barriers());
  convert(g.nodes, w.nodes());
  convert(g.edges, w.edges());
  convert(g.bodies, w.bodies());
  convert(g.segments, w.segments());
  convert(g.collectives, w.collectives());
  check_indices(g);
  spend_names(g);
  return g;
}

template <class Out, class Vector>
void convert(std::vector<Out>& out, const Vector* in) {
  if (!in) return;
  using Wire = std::remove_cv_t<std::remove_pointer_t<decltype(in->Get(0))>>;
  // The verifier checks the alignment of a vector's length, but not of its structs.
  if constexpr (!std::is_base_of_v<flatbuffers::Table, Wire>) {
    if (in->size() != 0 && reinterpret_cast<std::uintptr_t>(in->Data()) % alignof(Wire) != 0)
      throw_corrupt("a misaligned vector");
  }
  spend(std::uint64_t{in->size()} * sizeof(Out));
  out.reserve(in->size());
  for (const auto* w : *in) out.push_back(from_wire(*w));
}

}  // namespace

Records decode(std::span<const std::uint8_t> bytes, std::uint64_t max_bytes) {
  // The limits on depth and table count bound the verifier's work on hostile input.
  flatbuffers::Verifier verifier(bytes.data(), bytes.size(), 16, 4'000'000);
  if (!wire::VerifyChunkBuffer(verifier)) throw_corrupt("a chunk does not match the schema");
  const wire::Chunk& w = *wire::GetChunk(bytes.data());
  decode_limit = decode_budget = std::min(budget_of(bytes.size()), max_bytes);
  Records r;
  convert(r.sessions, w.sessions());
  convert(r.clocks, w.clocks());
  convert(r.devices, w.devices());
  convert(r.queues, w.queues());
  convert(r.graph_versions, w.graph_versions());
  convert(r.replays, w.replays());
  convert(r.sample_blocks, w.sample_blocks());
  convert(r.host_ranges, w.host_ranges());
  convert(r.thread_names, w.thread_names());
  convert(r.pool_states, w.pool_states());
  convert(r.buffer_lifetimes, w.buffer_lifetimes());
  convert(r.messages, w.messages());
  convert(r.updates, w.updates());
  convert(r.losses, w.losses());
  convert(r.profiling_overheads, w.profiling_overheads());
  convert(r.loop_runs, w.loop_runs());
  convert(r.device_totals, w.device_totals());
  convert(r.pool_uses, w.pool_uses());
  convert(r.ended, w.ended());
  convert(r.creation_costs, w.creation_costs());
  convert(r.clock_exchanges, w.clock_exchanges());
  convert(r.clock_alignments, w.clock_alignments());
  return r;
}

}  // namespace reprise::trace
