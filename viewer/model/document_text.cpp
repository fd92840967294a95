#include "model/document_text.hpp"

#include <sstream>

#include "trace/record_names.hpp"

namespace reprise::model {

namespace {

using trace::kNone;
using trace::Time;

struct Writer {
  const Document& d;
  std::ostringstream out{};

  [[nodiscard]] std::string at(Time t) const {
    return t == 0 ? "?" : "+" + std::to_string(t - d.first);
  }

  void graph(const GraphEntry& entry) {
    const Graph& g = *entry.graph;
    const trace::GraphVersion& r = g.record();
    out << "graph " << r.graph << " version " << r.version << " \"" << g.name() << "\" device "
        << r.device << " lanes " << r.lanes << " slab " << r.slab_bytes << " of " << r.naive_bytes
        << " bound " << r.lower_bound_bytes << "\n";
    for (std::uint32_t b = 0; b < r.buffers.size(); ++b) {
      out << "  buffer " << b << " " << g.buffer_name(b) << " "
          << trace::buffer_kind_name(r.buffers[b].kind) << " " << r.buffers[b].bytes << " bytes at "
          << r.buffers[b].offset << " used by";
      for (const BufferUse& u : g.uses(b)) out << " " << u.node;
      out << "\n";
    }
    for (std::uint32_t n = 0; n < g.node_count(); ++n) node(entry, n);
    for (const trace::NodeChanges& change : r.changes)
      out << "  changes of node " << change.node << " " << change.changes << "\n";
    for (const trace::Replay& p : entry.replays) {
      out << "  replay " << p.replay << " exec " << p.exec << " queue " << p.queue << " launched "
          << at(p.launched) << " to " << at(p.launch_returned) << " ran " << at(p.started) << " to "
          << at(p.ended) << (p.sampled != 0 ? " sampled" : "") << "\n";
    }
    for (const trace::LoopRun& l : entry.loops) {
      out << "  loop " << r.bodies[l.body].parent << " in replay " << l.replay << " iterations "
          << l.iterations << " timed " << l.timed << "\n";
    }
    for (const trace::CollectiveRun& c : entry.collectives) {
      out << "  collective " << c.key.communicator << "." << c.key.number << "." << c.key.index
          << " in replay " << c.key.replay << " ran " << at(c.started) << " to " << at(c.ended)
          << "\n";
    }
    for (const Communication& c : entry.communication) {
      out << "  communication in replay " << c.replay << " " << c.total << " exposed " << c.exposed
          << "\n";
    }
  }

  void node(const GraphEntry& entry, std::uint32_t n) {
    const Graph& g = *entry.graph;
    const trace::Node& node = g.record().nodes[n];
    const NodeStatistics& s = entry.statistics->nodes[n];
    out << "  node " << n << " " << trace::kind_name(node.kind) << " " << g.node_name(n) << " ["
        << g.label_path(node.label) << "] lane " << node.lane << " after";
    for (const Neighbour& p : g.predecessors(n))
      out << " " << p.node << ":" << trace::cause_name(g.record().edges[p.edge].cause);
    out << " before";
    for (const Neighbour& p : g.successors(n)) out << " " << p.node;
    out << " samples " << s.times.count() << " sum " << s.times.sum() << " min " << s.times.min()
        << " max " << s.times.max() << " lost " << s.lost;
    if (const std::uint32_t parent = g.parent(n); parent != kNone) out << " parent " << parent;
    out << "\n";
  }

  std::string text() {
    for (const trace::Session& s : *d.sessions)
      out << "session " << s.application << " on " << s.host << " process " << s.pid << "\n";
    for (const auto& [id, x] : *d.devices)
      out << "device " << id << " " << x.name << " (" << x.selector << ")\n";
    for (const auto& [id, x] : *d.queues)
      out << "queue " << id << " " << x.label << " device " << x.device << "\n";
    for (const auto& [id, x] : *d.thread_names) out << "thread " << id << " " << x.name << "\n";
    for (const trace::Clock& c : d.clocks)
      out << "clock of " << (c.device == kNone ? "UTC" : "device " + std::to_string(c.device))
          << " error " << c.error << "\n";
    for (const auto& [session, a] : *d.alignments) {
      out << "clock of session " << session << " offset " << a.offset << " to session "
          << a.reference << " error " << a.error << "\n";
    }
    for (const auto& [key, entry] : d.graphs) graph(entry);
    for (const trace::Update& u : d.updates) {
      out << "update " << at(u.at) << " graph " << u.graph << " " << u.from_version << " -> "
          << u.to_version << " " << u.description << "\n";
    }
    for (const auto& [id, x] : *d.pools) {
      out << "pool " << id << " " << x.label << " buffers " << x.buffers << " device "
          << x.device_bytes << " host " << x.host_bytes << " retained by";
      for (const std::uint32_t h : d.users_of(id, trace::PoolRole::Holder, Document::Uses::Current))
        out << " " << h;
      if (x.peak != 0) {
        out << " mapped " << x.mapped << " of " << x.reserved << " peak " << x.peak << " budget "
            << x.budget << " slabs " << x.slabs << " trims " << x.trims << " remaps " << x.remaps;
      }
      if (x.shared_slabs != 0) {
        out << " shared slabs " << x.shared_slabs << " by";
        for (const std::uint32_t s :
             d.users_of(id, trace::PoolRole::Sharer, Document::Uses::Current))
          out << " " << s;
      }
      out << "\n";
    }
    for (const auto& [id, x] : *d.device_totals) {
      out << "memory of device " << id << " mapped " << x.mapped << " of " << x.reserved << " peak "
          << x.peak << " buffers " << x.buffers << " budget " << x.budget << " slabs " << x.slabs
          << " shared " << x.shared_slabs << " trims " << x.trims << " remaps " << x.remaps << "\n";
    }
    for (const auto& [graph, c] : *d.creation_costs) {
      const auto bytes = [](std::int64_t change) {
        return change == trace::kUnknownBytes ? "unknown" : std::to_string(change);
      };
      out << "creation of graph " << graph << " capture " << c.capture_time << " bytes "
          << bytes(c.capture_bytes) << " launch " << c.launch_time << " bytes "
          << bytes(c.launch_bytes) << "\n";
    }
    for (const auto& [id, x] : *d.buffers) {
      out << "buffer " << id << " " << x.name << " pool " << x.pool << " " << x.bytes
          << " bytes from " << at(x.allocated) << " to " << at(x.freed) << "\n";
    }
    for (const trace::HostRange& r : d.host_ranges) {
      out << "range thread " << r.thread << " depth " << r.depth << " " << at(r.started) << " to "
          << at(r.ended) << " " << r.name << "\n";
    }
    for (const trace::Message& m : d.messages)
      out << "message " << at(m.at) << " " << trace::severity_name(m.severity) << " " << m.id
          << ": " << m.text << "\n";
    for (const trace::Loss& l : d.losses)
      out << "lost " << l.count << " " << trace::loss_name(l.kind) << " reason " << l.reason
          << "\n";
    for (const trace::ProfilingOverhead& c : d.profiling_overheads)
      out << "profiling overhead host " << c.host << " device " << c.device << "\n";
    out << "unknown replays " << d.unknown_replays << " samples " << d.unknown_samples << "\n";
    return out.str();
  }
};

}  // namespace

std::string document_text(const Document& document) { return Writer{document}.text(); }

}  // namespace reprise::model
