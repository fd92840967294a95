#include <iterator>
#include <type_traits>
#include <utility>

#include "trace/codec.hpp"
#include "trace/sample_columns.hpp"
#include "trace/schema_generated.h"

namespace reprise::trace {

namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;

// The wire form of each record. Structs need no builder; tables do.
wire::Clock to_wire(const Clock& r) { return {r.host, r.other, r.error, r.device}; }
wire::ClockExchange to_wire(const ClockExchange& r) {
  return {r.sent, r.received, r.other, r.rank};
}
wire::ClockAlignment to_wire(const ClockAlignment& r) {
  return {r.at, r.offset, r.drift, r.error, r.exchanges, r.collectives, r.session, r.reference};
}
wire::Collective to_wire(const Collective& r) {
  return {r.communicator, r.number, r.bytes,
          r.node,         r.ranks,  r.rank,
          r.peer,         r.index,  static_cast<std::uint8_t>(r.kind)};
}
wire::Label to_wire(const Label& r) { return {r.parent, r.name, r.color}; }
wire::Kernel to_wire(const Kernel& r) {
  return {r.name, r.full_name, r.registers, r.static_shared_bytes};
}
wire::Buffer to_wire(const Buffer& r) {
  return {r.bytes, r.offset, r.name, r.id, r.pool, static_cast<std::uint8_t>(r.kind)};
}
wire::NodeAccess to_wire(const NodeAccess& r) {
  return {r.begin, r.end, r.buffer, static_cast<std::uint8_t>(r.access), r.inferred};
}
wire::Barrier to_wire(const Barrier& r) {
  return {r.begin,
          r.end,
          r.command,
          r.label,
          r.file,
          r.line,
          r.buffer,
          r.edges,
          static_cast<std::uint8_t>(r.before),
          static_cast<std::uint8_t>(r.after),
          static_cast<std::uint8_t>(r.dependency)};
}
wire::Node to_wire(const Node& r) {
  return {r.bytes,        r.name,         r.label,
          r.kernel,       r.lane,         r.command,
          r.file,         r.line,         r.first_access,
          r.access_count, r.grid[0],      r.grid[1],
          r.grid[2],      r.block[0],     r.block[1],
          r.block[2],     r.shared_bytes, static_cast<std::uint8_t>(r.kind)};
}
wire::Edge to_wire(const Edge& r) {
  return {r.begin,
          r.end,
          r.from,
          r.to,
          r.buffer,
          r.barrier,
          static_cast<std::uint8_t>(r.cause),
          static_cast<std::uint8_t>(r.hazard)};
}
wire::Replay to_wire(const Replay& r) {
  return {r.replay,  r.launched, r.launch_returned, r.started, r.ended,  r.graph,
          r.version, r.exec,     r.queue,           r.thread,  r.sampled};
}
wire::Body to_wire(const Body& r) {
  return {r.parent, r.branch, r.first_node, r.nodes, static_cast<std::uint8_t>(r.kind)};
}
wire::Segment to_wire(const Segment& r) { return {r.first_node, r.nodes, r.lists, r.items}; }
wire::LoopRun to_wire(const LoopRun& r) {
  return {r.replay, r.iterations, r.timed, r.graph, r.version, r.body};
}
wire::ProfilingOverhead to_wire(const ProfilingOverhead& r) {
  return {r.from, r.to, r.host, r.device, r.mode};
}

wire::PoolUse to_wire(const PoolUse& r) {
  return {r.from, r.to, r.pool, r.graph, static_cast<std::uint8_t>(r.role)};
}
wire::CreationCost to_wire(const CreationCost& r) {
  return {r.at, r.capture_time, r.launch_time, r.capture_bytes, r.launch_bytes, r.graph};
}
wire::Ended to_wire(const Ended& r) { return {r.at, r.id, static_cast<std::uint8_t>(r.kind)}; }

template <class T>
auto structs(FlatBufferBuilder& b, const std::vector<T>& values) {
  using Wire = decltype(to_wire(values.front()));
  std::vector<Wire> out;
  out.reserve(values.size());
  for (const T& v : values) out.push_back(to_wire(v));
  return b.CreateVectorOfStructs(out);
}

Offset<wire::Session> to_table(FlatBufferBuilder& b, const Session& r) {
  return wire::CreateSession(b, b.CreateString(r.host), r.pid, r.process_start_utc, r.rank,
                             b.CreateString(r.application), b.CreateString(r.command_line),
                             b.CreateString(r.engine_version), r.ranks, b.CreateString(r.job),
                             b.CreateString(r.clock));
}
Offset<wire::Device> to_table(FlatBufferBuilder& b, const Device& r) {
  return wire::CreateDevice(b, r.id, b.CreateString(r.name), b.CreateString(r.selector),
                            b.CreateVector(r.uuid.data(), r.uuid.size()), r.memory_bytes,
                            r.multiprocessors, r.session);
}
Offset<wire::Queue> to_table(FlatBufferBuilder& b, const Queue& r) {
  return wire::CreateQueue(b, r.id, r.device, b.CreateString(r.label));
}
Offset<wire::GraphVersion> to_table(FlatBufferBuilder& b, const GraphVersion& r) {
  const auto label = b.CreateString(r.label);
  const auto strings = b.CreateVectorOfStrings(r.strings);
  const auto labels = structs(b, r.labels);
  const auto kernels = structs(b, r.kernels);
  const auto buffers = structs(b, r.buffers);
  const auto accesses = structs(b, r.accesses);
  const auto barriers = structs(b, r.barriers);
  const auto nodes = structs(b, r.nodes);
  const auto edges = structs(b, r.edges);
  const auto bodies = structs(b, r.bodies);
  const auto segments = structs(b, r.segments);
  const auto collectives = structs(b, r.collectives);
  return wire::CreateGraphVersion(b, r.graph, r.version, r.device, label, r.plan_hash,
                                  r.lowering_hash, r.lanes, r.entry_exit, r.ordering, r.naive_bytes,
                                  r.slab_bytes, r.lower_bound_bytes, r.compiled, r.compile_time,
                                  r.instantiate_time, strings, labels, kernels, buffers, accesses,
                                  barriers, nodes, edges, bodies, segments, collectives);
}
Offset<wire::SampleBlock> to_table(FlatBufferBuilder& b, const SampleBlock& r) {
  std::vector<std::uint8_t> columns;
  encode_samples(r.samples, columns);
  return wire::CreateSampleBlock(
      b, r.graph, r.version, r.exec, r.replay, static_cast<std::uint8_t>(r.source),
      static_cast<std::uint32_t>(r.samples.size()), b.CreateVector(columns));
}
Offset<wire::HostRange> to_table(FlatBufferBuilder& b, const HostRange& r) {
  return wire::CreateHostRange(b, r.thread, r.depth, r.started, r.ended,
                               b.CreateSharedString(r.name), r.graph, r.replay);
}
Offset<wire::ThreadName> to_table(FlatBufferBuilder& b, const ThreadName& r) {
  return wire::CreateThreadName(b, r.thread, b.CreateString(r.name), r.session);
}
Offset<wire::PoolState> to_table(FlatBufferBuilder& b, const PoolState& r) {
  return wire::CreatePoolState(b, r.pool, r.device, r.at, b.CreateSharedString(r.label), r.buffers,
                               r.device_bytes, r.host_bytes, r.budget, r.reserved, r.mapped, r.peak,
                               r.slabs, r.trims, r.remaps, r.shared_slabs, r.freed, r.freed_bytes);
}
Offset<wire::DeviceTotals> to_table(FlatBufferBuilder& b, const DeviceTotals& r) {
  return wire::CreateDeviceTotals(b, r.device, r.at, r.budget, r.reserved, r.mapped, r.peak,
                                  r.buffers, r.slabs, r.shared_slabs, r.trims, r.remaps);
}
Offset<wire::BufferLifetime> to_table(FlatBufferBuilder& b, const BufferLifetime& r) {
  return wire::CreateBufferLifetime(b, r.buffer, r.pool, r.device,
                                    static_cast<std::uint8_t>(r.kind), r.bytes, r.address,
                                    r.allocated, r.freed, b.CreateSharedString(r.name));
}
Offset<wire::Message> to_table(FlatBufferBuilder& b, const Message& r) {
  return wire::CreateMessage(b, r.at, static_cast<std::uint8_t>(r.severity),
                             b.CreateSharedString(r.id), b.CreateString(r.text), r.graph, r.version,
                             r.command, r.other_command, r.session);
}
Offset<wire::Update> to_table(FlatBufferBuilder& b, const Update& r) {
  return wire::CreateUpdate(b, r.at, r.graph, r.from_version, r.to_version,
                            b.CreateString(r.description));
}
Offset<wire::Loss> to_table(FlatBufferBuilder& b, const Loss& r) {
  return wire::CreateLoss(b, r.at, static_cast<std::uint8_t>(r.kind), r.count,
                          b.CreateSharedString(r.reason), r.session);
}

template <class T>
auto tables(FlatBufferBuilder& b, const std::vector<T>& values) {
  std::vector<decltype(to_table(b, values.front()))> out;
  out.reserve(values.size());
  for (const T& v : values) out.push_back(to_table(b, v));
  return b.CreateVector(out);
}

template <class T>
std::size_t bytes_of(const std::vector<T>& v) {
  return v.size() * sizeof(T);
}

// Size of a record's strings and vectors.
std::size_t content_bytes(const SampleBlock& b) { return bytes_of(b.samples); }
std::size_t content_bytes(const GraphVersion& g) {
  std::size_t bytes = bytes_of(g.strings) + bytes_of(g.labels) + bytes_of(g.kernels) +
                      bytes_of(g.buffers) + bytes_of(g.accesses) + bytes_of(g.barriers) +
                      bytes_of(g.nodes) + bytes_of(g.edges) + bytes_of(g.bodies) +
                      bytes_of(g.segments) + bytes_of(g.collectives);
  for (const std::string& s : g.strings) bytes += s.size();
  return bytes;
}
std::size_t content_bytes(const PoolState& p) { return p.label.size(); }
std::size_t content_bytes(const Message& m) { return m.id.size() + m.text.size(); }
std::size_t content_bytes(const Update& u) { return u.description.size(); }
std::size_t content_bytes(const BufferLifetime& b) { return b.name.size(); }
std::size_t content_bytes(const HostRange& h) { return h.name.size(); }
std::size_t content_bytes(const Session& s) { return s.application.size() + s.command_line.size(); }
template <class T>
std::size_t content_bytes(const T&) {
  return 0;
}

// Calls `visit` with every vector of `records`.
template <class R, class Visit>
void each_kind(R& records, Visit visit) {
  visit(records.sessions);
  visit(records.clocks);
  visit(records.devices);
  visit(records.queues);
  visit(records.graph_versions);
  visit(records.replays);
  visit(records.sample_blocks);
  visit(records.host_ranges);
  visit(records.thread_names);
  visit(records.pool_states);
  visit(records.buffer_lifetimes);
  visit(records.messages);
  visit(records.updates);
  visit(records.losses);
  visit(records.profiling_overheads);
  visit(records.loop_runs);
  visit(records.device_totals);
  visit(records.pool_uses);
  visit(records.ended);
  visit(records.creation_costs);
  visit(records.clock_exchanges);
  visit(records.clock_alignments);
}

}  // namespace

void Records::add(Record record) {
  std::visit(
      [this](auto&& r) {
        each_kind(*this, [&r]<class V>(V& kind) {
          if constexpr (std::is_same_v<typename V::value_type, std::decay_t<decltype(r)>>)
            kind.push_back(std::move(r));
        });
      },
      std::move(record));
}

std::size_t Records::count() const noexcept {
  std::size_t sum = 0;
  each_kind(*this, [&sum](const auto& kind) { sum += kind.size(); });
  return sum;
}

void Records::clear() noexcept {
  each_kind(*this, [](auto& kind) { kind.clear(); });
}

std::size_t memory_bytes(const Record& record) {
  return sizeof(Record) + std::visit([](const auto& r) { return content_bytes(r); }, record);
}

std::vector<std::uint8_t> encode(const Records& r) {
  FlatBufferBuilder b(std::size_t{64} << 10);
  const auto sessions = tables(b, r.sessions);
  const auto clocks = structs(b, r.clocks);
  const auto devices = tables(b, r.devices);
  const auto queues = tables(b, r.queues);
  const auto graph_versions = tables(b, r.graph_versions);
  const auto replays = structs(b, r.replays);
  const auto sample_blocks = tables(b, r.sample_blocks);
  const auto host_ranges = tables(b, r.host_ranges);
  const auto thread_names = tables(b, r.thread_names);
  const auto pool_states = tables(b, r.pool_states);
  const auto buffer_lifetimes = tables(b, r.buffer_lifetimes);
  const auto messages = tables(b, r.messages);
  const auto updates = tables(b, r.updates);
  const auto losses = tables(b, r.losses);
  const auto profiling_overheads = structs(b, r.profiling_overheads);
  const auto loop_runs = structs(b, r.loop_runs);
  const auto device_totals = tables(b, r.device_totals);
  const auto pool_uses = structs(b, r.pool_uses);
  const auto ended = structs(b, r.ended);
  const auto creation_costs = structs(b, r.creation_costs);
  const auto clock_exchanges = structs(b, r.clock_exchanges);
  const auto clock_alignments = structs(b, r.clock_alignments);
  wire::FinishChunkBuffer(
      b, wire::CreateChunk(b, sessions, clocks, devices, queues, graph_versions, replays,
                           sample_blocks, host_ranges, thread_names, pool_states, buffer_lifetimes,
                           messages, updates, losses, profiling_overheads, loop_runs, device_totals,
                           pool_uses, ended, creation_costs, clock_exchanges, clock_alignments));
  return {b.GetBufferPointer(), b.GetBufferPointer() + b.GetSize()};
}

}  // namespace reprise::trace
