#include "export/topology.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>

#include "export/export_error.hpp"
#include "trace/record_names.hpp"

namespace reprise::trace {

const GraphVersion* Topology::find(std::uint32_t graph, std::uint32_t version) const {
  const auto found = graphs.find({graph, version});
  return found == graphs.end() ? nullptr : &found->second;
}

Session Topology::session() const { return sessions.empty() ? Session{} : sessions.front(); }

bool Topology::has_ranks() const {
  return sessions.size() > 1 &&
         std::all_of(sessions.begin(), sessions.end(),
                     [](const Session& session) { return session.rank != kNone; });
}

std::uint32_t Topology::session_of_device(std::uint32_t device) const {
  const auto found = devices.find(device);
  return found == devices.end() || found->second.session >= sessions.size() ? 0
                                                                            : found->second.session;
}

std::uint32_t Topology::session_of_graph(std::uint32_t graph) const {
  const auto found = graphs.lower_bound({graph, 0});
  return found == graphs.end() || found->first.first != graph
             ? 0
             : session_of_device(found->second.device);
}

std::uint32_t Topology::session_of_thread(std::uint32_t thread) const {
  const auto found = thread_names.find(thread);
  return found == thread_names.end() || found->second.session >= sessions.size()
             ? 0
             : found->second.session;
}

std::optional<std::uint32_t> Topology::rank_of(std::uint32_t session) const {
  if (session >= sessions.size() || sessions[session].rank == kNone) return std::nullopt;
  return sessions[session].rank;
}

Topology read_topology(const TraceReader& reader) {
  Topology t;
  for (const ChunkEntry& entry : reader.chunks()) {
    if (entry.header.kind != ChunkKind::Topology) continue;
    Records records = reader.read(entry);
    t.add(records);
    t.clocks.insert(t.clocks.end(), records.clocks.begin(), records.clocks.end());
  }
  return t;
}

void for_each_chunk(const TraceReader& reader, const Progress& progress,
                    const std::function<void(Records&)>& take) {
  std::uint64_t total = 0, done = 0;
  for (const ChunkEntry& entry : reader.chunks())
    total += ChunkHeader::kBytes + entry.header.compressed_bytes;
  for (const ChunkEntry& entry : reader.chunks()) {
    Records records = reader.read(entry);
    take(records);
    done += ChunkHeader::kBytes + entry.header.compressed_bytes;
    if (progress) progress(done, total);
  }
}

GraphLabels graph_labels(const Topology& topology) {
  GraphLabels graphs;
  for (const auto& [key, graph] : topology.graphs) graphs.emplace(key.first, graph.label);
  return graphs;
}

std::uint32_t find_graph(const GraphLabels& known, const std::string& text) {
  std::set<std::uint32_t> labelled, all;
  std::string graphs;
  for (const auto& [id, label] : known) {
    if (label == text) labelled.insert(id);
    if (all.insert(id).second)
      graphs +=
          (graphs.empty() ? "" : ", ") + std::to_string(id) + " (" + graph_name(id, label) + ")";
  }
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size() && all.count(number) != 0)
    return number;
  if (labelled.size() == 1) return *labelled.begin();
  if (labelled.size() > 1)
    throw ExportError("several graphs have the label \"" + text +
                      "\"; name one by its number: " + graphs);
  throw ExportError("there is no graph \"" + text + "\"; " +
                    (all.empty() ? "the trace has none" : "the trace has " + graphs));
}

std::uint64_t pool_bytes(const PoolState& pool) noexcept {
  return pool.peak != 0 ? pool.mapped : pool.device_bytes;
}

std::uint32_t parent_of(const GraphVersion& graph, std::uint32_t node) noexcept {
  const auto next =
      std::upper_bound(graph.bodies.begin(), graph.bodies.end(), node,
                       [](std::uint32_t n, const Body& body) { return n < body.first_node; });
  return next == graph.bodies.begin() ? kNone : std::prev(next)->parent;
}

}  // namespace reprise::trace
