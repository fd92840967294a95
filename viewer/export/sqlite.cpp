#include <optional>
#include <string>

#include "export/database.hpp"
#include "export/exporter.hpp"
#include "export/selection.hpp"
#include "trace/record_names.hpp"

namespace reprise::trace {

namespace {

// Times are ns on the host clock of the reference session. NULL: unknown or not applicable. Rank:
// in a distributed job; tables without it have the graph.
constexpr const char* kTables = R"(
CREATE TABLE sessions (host TEXT, pid INTEGER, process_start_utc_ns INTEGER, rank INTEGER,
  application TEXT, command_line TEXT, engine_version TEXT, session INTEGER, ranks INTEGER,
  job TEXT);
CREATE TABLE clock_alignments (session INTEGER PRIMARY KEY, rank INTEGER, reference INTEGER,
  at_ns INTEGER, offset_ns INTEGER, drift REAL, error_ns INTEGER, exchanges INTEGER,
  collectives INTEGER);
CREATE TABLE graphs (graph INTEGER, version INTEGER, name TEXT, device TEXT, plan_hash TEXT,
  lanes INTEGER, naive_bytes INTEGER, slab_bytes INTEGER, bound_bytes INTEGER,
  compile_ns INTEGER, instantiate_ns INTEGER, rank INTEGER,
  PRIMARY KEY (graph, version)) WITHOUT ROWID;
CREATE TABLE creation_costs (graph INTEGER PRIMARY KEY, capture_ns INTEGER, launch_ns INTEGER,
  capture_bytes INTEGER, launch_bytes INTEGER);
CREATE TABLE nodes (graph INTEGER, version INTEGER, node INTEGER, name TEXT, label TEXT,
  kind TEXT, kernel_kind TEXT, lane INTEGER, command INTEGER, kernel TEXT, file TEXT,
  line INTEGER, grid_x INTEGER, grid_y INTEGER, grid_z INTEGER, block_x INTEGER,
  block_y INTEGER, block_z INTEGER, shared_bytes INTEGER, bytes INTEGER, parent INTEGER,
  PRIMARY KEY (graph, version, node)) WITHOUT ROWID;
CREATE TABLE accesses (graph INTEGER, version INTEGER, node INTEGER, buffer INTEGER,
  access TEXT, inferred INTEGER, begin_byte INTEGER, end_byte INTEGER);
CREATE TABLE frames (graph INTEGER, version INTEGER, frame INTEGER, caller INTEGER,
  function TEXT, file TEXT, line INTEGER, offset INTEGER, PRIMARY KEY (graph, version,
  frame)) WITHOUT ROWID;
CREATE TABLE stacks (graph INTEGER, version INTEGER, node INTEGER, frame INTEGER);
CREATE TABLE launch_stacks (graph INTEGER, version INTEGER, launches INTEGER, frame INTEGER,
  file TEXT, line INTEGER);
CREATE TABLE segments (graph INTEGER, version INTEGER, segment INTEGER, first_node INTEGER,
  nodes INTEGER, lists INTEGER, items INTEGER, PRIMARY KEY (graph, version,
  segment)) WITHOUT ROWID;
CREATE TABLE block_relations (graph INTEGER, version INTEGER, from_node INTEGER, to_node INTEGER,
  factor INTEGER, divisor INTEGER, low INTEGER, high INTEGER);
CREATE TABLE queues (queue INTEGER PRIMARY KEY, name TEXT, device TEXT, rank INTEGER);
CREATE TABLE threads (thread INTEGER PRIMARY KEY, name TEXT, rank INTEGER);
CREATE TABLE edges (graph INTEGER, version INTEGER, from_node INTEGER, to_node INTEGER,
  cause TEXT, hazard TEXT, buffer INTEGER, barrier INTEGER, begin_byte INTEGER, end_byte INTEGER);
CREATE TABLE collectives (graph INTEGER, version INTEGER, node INTEGER, kind TEXT,
  communicator TEXT, number INTEGER, collective INTEGER, communicator_ranks INTEGER,
  communicator_rank INTEGER, peer INTEGER, bytes INTEGER, rank INTEGER,
  PRIMARY KEY (graph, version, node)) WITHOUT ROWID;
CREATE TABLE buffers (graph INTEGER, version INTEGER, buffer INTEGER, name TEXT, kind TEXT,
  bytes INTEGER, slab_offset INTEGER, pool INTEGER, PRIMARY KEY (graph, version,
  buffer)) WITHOUT ROWID;
CREATE TABLE replays (graph INTEGER, version INTEGER, exec INTEGER, replay INTEGER,
  queue INTEGER, thread INTEGER, launched_ns INTEGER, launch_returned_ns INTEGER,
  started_ns INTEGER, ended_ns INTEGER, sampled INTEGER, rank INTEGER);
CREATE TABLE samples (graph INTEGER, version INTEGER, exec INTEGER, replay INTEGER, node INTEGER,
  occurrence INTEGER, worker INTEGER, source TEXT, started_ns INTEGER, duration_ns INTEGER,
  rank INTEGER);
CREATE TABLE messages (at_ns INTEGER, severity TEXT, id TEXT, text TEXT, graph INTEGER,
  version INTEGER, command INTEGER, other_command INTEGER, rank INTEGER);
CREATE TABLE loops (graph INTEGER, version INTEGER, replay INTEGER, node INTEGER,
  iterations INTEGER, timed_iterations INTEGER);
CREATE TABLE ranges (thread INTEGER, depth INTEGER, started_ns INTEGER, ended_ns INTEGER,
  name TEXT, graph INTEGER, replay INTEGER, rank INTEGER);
CREATE TABLE pools (at_ns INTEGER, pool INTEGER, name TEXT, device TEXT, buffers INTEGER,
  buffer_bytes INTEGER, reserved_bytes INTEGER, mapped_bytes INTEGER, peak_bytes INTEGER,
  budget_bytes INTEGER, slabs INTEGER, trims INTEGER, remaps INTEGER, rank INTEGER);
CREATE TABLE losses (at_ns INTEGER, kind TEXT, count INTEGER, reason TEXT, rank INTEGER);
)";

constexpr const char* kIndices = R"(
CREATE INDEX samples_by_node ON samples (graph, version, node);
CREATE INDEX replays_by_graph ON replays (graph, version, replay);
)";

std::optional<Time> known(Time t) { return t == 0 ? std::nullopt : std::optional(t); }
std::optional<std::uint32_t> index(std::uint32_t i) {
  return i == kNone ? std::nullopt : std::optional(i);
}

const char* access_text(Access access) {
  switch (access) {
    case Access::None: return "none";
    case Access::Read: return "read";
    case Access::Write: return "write";
    case Access::ReadWrite: return "read and write";
  }
  return "";
}

// Hashes are text because SQLite integers are signed.
std::string hex(std::uint64_t value) {
  std::string text(16, '0');
  for (std::size_t i = text.size(); i-- > 0; value >>= 4) text[i] = "0123456789abcdef"[value & 15];
  return text;
}

void write_graph(Database& db, const GraphVersion& g, const Topology& topology) {
  const std::string device = device_name(topology.devices, g.device);
  const auto rank = topology.rank_of(topology.session_of_device(g.device));
  Database::Insert graph(db, "INSERT INTO graphs VALUES (?,?,?,?,?,?,?,?,?,?,?,?)");
  graph.row(g.graph, g.version, graph_name(g),
            device.empty() ? std::nullopt : std::optional(device), hex(g.plan_hash), g.lanes,
            g.naive_bytes, g.slab_bytes, g.lower_bound_bytes, known(g.compile_time),
            known(g.instantiate_time), rank);
  Database::Insert collective(db, "INSERT INTO collectives VALUES (?,?,?,?,?,?,?,?,?,?,?,?)");
  for (const Collective& c : g.collectives) {
    collective.row(g.graph, g.version, c.node, collective_kind_name(c.kind), hex(c.communicator),
                   c.number, c.index, c.ranks, c.rank, index(c.peer), c.bytes, rank);
  }
  Database::Insert node(db, "INSERT INTO nodes VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
  const std::vector<detail::KernelKind> kinds = kernel_kinds(g);
  for (std::uint32_t i = 0; i < g.nodes.size(); ++i) {
    const Node& n = g.nodes[i];
    const std::optional<std::string> kernel =
        n.kernel == kNone ? std::nullopt : std::optional(g.strings[g.kernels[n.kernel].full_name]);
    const auto kernel_kind = kinds[i] == detail::KernelKind::Other
                                 ? std::nullopt
                                 : std::optional(detail::kernel_kind_name(kinds[i]));
    const bool located = n.line != 0;
    node.row(g.graph, g.version, i, node_name(g, i), label_path(g, n.label), kind_name(n.kind),
             kernel_kind, n.lane, index(n.command), kernel,
             located ? std::optional(g.strings[n.file]) : std::nullopt,
             located ? std::optional(n.line) : std::nullopt, n.grid[0], n.grid[1], n.grid[2],
             n.block[0], n.block[1], n.block[2], n.shared_bytes, n.bytes, index(parent_of(g, i)));
  }
  Database::Insert access(db, "INSERT INTO accesses VALUES (?,?,?,?,?,?,?,?)");
  for (std::uint32_t i = 0; i < g.nodes.size(); ++i) {
    const Node& n = g.nodes[i];
    for (std::uint32_t a = n.first_access; a < n.first_access + n.access_count; ++a) {
      const NodeAccess& of = g.accesses[a];
      access.row(g.graph, g.version, i, of.buffer, access_text(of.access),
                 std::uint32_t{of.inferred}, of.begin, of.end);
    }
  }
  Database::Insert frame(db, "INSERT INTO frames VALUES (?,?,?,?,?,?,?,?)");
  for (std::uint32_t i = 0; i < g.frames.size(); ++i) {
    const Frame& of = g.frames[i];
    frame.row(g.graph, g.version, i, index(of.caller), g.strings[of.function], g.strings[of.file],
              of.line == 0 ? std::nullopt : std::optional(of.line), of.offset);
  }
  // The innermost frames; without a node that of the graph.
  Database::Insert stack(db, "INSERT INTO stacks VALUES (?,?,?,?)");
  for (const NodeStack& of : g.stacks) stack.row(g.graph, g.version, of.node, of.frame);
  if (g.stack != kNone) stack.row(g.graph, g.version, index(kNone), g.stack);
  Database::Insert launch(db, "INSERT INTO launch_stacks VALUES (?,?,?,?,?,?)");
  for (const LaunchStack& of : g.launch_stacks)
    launch.row(g.graph, g.version, of.launches, of.frame, g.strings[of.file], of.line);
  Database::Insert segment(db, "INSERT INTO segments VALUES (?,?,?,?,?,?,?)");
  for (std::uint32_t i = 0; i < g.segments.size(); ++i) {
    const Segment& of = g.segments[i];
    segment.row(g.graph, g.version, i, of.first_node, of.nodes, of.lists, of.items);
  }
  Database::Insert relation(db, "INSERT INTO block_relations VALUES (?,?,?,?,?,?,?,?)");
  for (const BlockRelation& of : g.block_relations) {
    relation.row(g.graph, g.version, of.from, of.to, of.factor, of.divisor, of.low, of.high);
  }
  Database::Insert edge(db, "INSERT INTO edges VALUES (?,?,?,?,?,?,?,?,?,?)");
  for (const Edge& e : g.edges) {
    edge.row(g.graph, g.version, e.from, e.to, cause_name(e.cause), hazard_name(e.hazard),
             index(e.buffer), index(e.barrier), e.begin, e.end);
  }
  Database::Insert buffer(
      db, "INSERT INTO buffers VALUES (?1,?2,?3,?4,?5,?6,CASE ?5 WHEN 'transient' THEN ?7 END,?8)");
  for (std::uint32_t i = 0; i < g.buffers.size(); ++i) {
    const Buffer& b = g.buffers[i];
    buffer.row(g.graph, g.version, i, g.strings[b.name], buffer_kind_name(b.kind), b.bytes,
               b.offset, index(b.pool));
  }
}

// Writes the rows of events and samples.
class Events {
 public:
  Events(Database& db, const Selection& selection)
      : selection_(selection),
        replays_(db, "INSERT INTO replays VALUES (?,?,?,?,?,?,?,?,?,?,?,?)"),
        samples_(db, "INSERT INTO samples VALUES (?,?,?,?,?,?,?,?,?,?,?)"),
        loops_(db, "INSERT INTO loops VALUES (?,?,?,?,?,?)"),
        ranges_(db, "INSERT INTO ranges VALUES (?,?,?,?,?,?,?,?)"),
        pools_(db, "INSERT INTO pools VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?)"),
        messages_(db, "INSERT INTO messages VALUES (?,?,?,?,?,?,?,?,?)"),
        losses_(db, "INSERT INTO losses VALUES (?,?,?,?,?)") {}

  void take(const Records& records) {
    const Topology& topology = selection_.topology;
    const auto rank_of_graph = [&](std::uint32_t graph) {
      return topology.rank_of(topology.session_of_graph(graph));
    };
    for (const Replay& r : records.replays) {
      if (!selection_.takes(r.graph)) continue;
      replays_.row(r.graph, r.version, r.exec, r.replay, r.queue, r.thread, known(r.launched),
                   known(r.launch_returned), known(r.started), known(r.ended), r.sampled,
                   rank_of_graph(r.graph));
      ++report_.replays;
    }
    for (const SampleBlock& b : records.sample_blocks) {
      if (!selection_.takes(b.graph)) continue;
      const auto rank = rank_of_graph(b.graph);
      for (const Sample& s : b.samples) {
        const std::optional<std::uint32_t> duration =
            s.started == 0 ? std::nullopt : std::optional(s.duration);
        samples_.row(b.graph, b.version, b.exec, b.replay, s.node, s.occurrence, s.worker,
                     source_name(b.source), known(s.started), duration, rank);
        ++report_.samples;
      }
    }
    for (const LoopRun& l : records.loop_runs) {
      const GraphVersion* graph = selection_.topology.find(l.graph, l.version);
      if (!selection_.takes(l.graph) || graph == nullptr || l.body >= graph->bodies.size())
        continue;
      loops_.row(l.graph, l.version, l.replay, graph->bodies[l.body].parent, l.iterations, l.timed);
    }
    for (const HostRange& r : records.host_ranges) {
      // Ranges outside graphs are part of every selection.
      if (r.graph != kNone && !selection_.takes(r.graph)) continue;
      ranges_.row(r.thread, std::uint32_t{r.depth}, known(r.started), known(r.ended), r.name,
                  index(r.graph), r.replay == 0 ? std::nullopt : std::optional(r.replay),
                  topology.rank_of(topology.session_of_thread(r.thread)));
    }
    for (const PoolState& p : records.pool_states) {
      const std::string device = device_name(selection_.topology.devices, p.device);
      const bool has_slabs = p.peak != 0;  // false: only buffers are known
      const auto slabs = [&](std::uint64_t value) {
        return has_slabs ? std::optional(value) : std::nullopt;
      };
      pools_.row(known(p.at), p.pool, pool_name(p.pool, p.label),
                 device.empty() ? std::nullopt : std::optional(device), p.buffers, p.device_bytes,
                 slabs(p.reserved), slabs(p.mapped), slabs(p.peak),
                 p.budget == 0 ? std::nullopt : std::optional(p.budget), slabs(p.slabs),
                 slabs(p.trims), slabs(p.remaps),
                 topology.rank_of(topology.session_of_device(p.device)));
    }
    for (const Message& m : records.messages) {
      const bool of_graph = m.graph != kNone;
      if (of_graph && !selection_.takes(m.graph)) continue;
      messages_.row(known(m.at), severity_name(m.severity), m.id, m.text, index(m.graph),
                    of_graph ? std::optional(m.version) : std::nullopt, index(m.command),
                    index(m.other_command), topology.rank_of(m.session));
    }
    for (const Loss& l : records.losses)
      losses_.row(known(l.at), loss_name(l.kind), l.count, l.reason, topology.rank_of(l.session));
  }

  [[nodiscard]] const ExportReport& report() const noexcept { return report_; }

 private:
  const Selection& selection_;
  Database::Insert replays_, samples_, loops_, ranges_, pools_, messages_, losses_;
  ExportReport report_;
};

}  // namespace

ExportReport export_sqlite(const TraceReader& reader, const ExportDesc& desc) {
  const Selection selection = select(reader, desc);
  Database db(desc.output, output_of(reader));
  db.run(kTables);
  {
    Database::Insert session(db, "INSERT INTO sessions VALUES (?,?,?,?,?,?,?,?,?,?)");
    for (std::uint32_t i = 0; i < selection.topology.sessions.size(); ++i) {
      const Session& s = selection.topology.sessions[i];
      session.row(s.host, s.pid, known(s.process_start_utc), index(s.rank), s.application,
                  s.command_line, s.engine_version, i,
                  s.ranks == 0 ? std::nullopt : std::optional(s.ranks),
                  s.job.empty() ? std::nullopt : std::optional(s.job));
    }
    Database::Insert queue(db, "INSERT INTO queues VALUES (?,?,?,?)");
    for (const auto& [id, q] : selection.topology.queues) {
      const std::string device = device_name(selection.topology.devices, q.device);
      queue.row(id, q.label.empty() ? std::nullopt : std::optional(q.label),
                device.empty() ? std::nullopt : std::optional(device),
                selection.topology.rank_of(selection.topology.session_of_device(q.device)));
    }
    Database::Insert thread(db, "INSERT INTO threads VALUES (?,?,?)");
    for (const auto& [id, t] : selection.topology.thread_names) {
      thread.row(id, t.name, selection.topology.rank_of(selection.topology.session_of_thread(id)));
    }
    Database::Insert alignment(db, "INSERT INTO clock_alignments VALUES (?,?,?,?,?,?,?,?,?)");
    for (const auto& [index_of_session, a] : selection.topology.alignments) {
      alignment.row(index_of_session, selection.topology.rank_of(index_of_session), a.reference,
                    a.at, a.offset, a.drift,
                    a.error == kUnknownError ? std::nullopt : std::optional(a.error), a.exchanges,
                    a.collectives);
    }
  }
  for (const auto& [key, graph] : selection.topology.graphs) {
    if (selection.takes(key.first)) write_graph(db, graph, selection.topology);
  }
  {
    Database::Insert cost(db, "INSERT INTO creation_costs VALUES (?,?,?,?,?)");
    const auto bytes = [](std::int64_t change) {
      return change == kUnknownBytes ? std::nullopt : std::optional(change);
    };
    for (const auto& [graph, c] : selection.topology.creation_costs) {
      if (selection.takes(graph))
        cost.row(graph, known(c.capture_time), known(c.launch_time), bytes(c.capture_bytes),
                 bytes(c.launch_bytes));
    }
  }
  ExportReport report;
  {
    Events events(db, selection);
    for_each_chunk(reader, desc.progress, [&](const Records& records) { events.take(records); });
    report = events.report();
  }
  db.run(kIndices);
  db.commit();
  return report;
}

}  // namespace reprise::trace
