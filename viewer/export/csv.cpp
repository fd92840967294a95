#include <string>

#include "base/atomic_file.hpp"
#include "base/csv.hpp"
#include "export/exporter.hpp"
#include "export/selection.hpp"
#include "trace/record_names.hpp"

namespace reprise::trace {

namespace {

using detail::csv_field;

// One line per sample. Lines of the other kinds have the columns that apply: a "replay" its times
// on the device, its launch, queue and launching thread (worker), a "range" its name, thread
// (worker) and depth (occurrence), a "pool" its name, time and device memory, a "capture" and a
// "first launch" of a graph their durations and the device memory that they took. Rank: in a
// distributed job. Kernel kind: of samples, what the kernel does, if its name says so.
constexpr const char* kHeader =
    "graph,graph_name,version,exec,replay,node,node_name,label,kind,lane,worker,occurrence,source,"
    "started_ns,duration_ns,bytes,rank,launched_ns,launch_returned_ns,queue,kernel_kind\r\n";

// The columns of a row that describe the node.
std::string node_fields(const GraphVersion* graph, std::uint32_t node) {
  if (graph == nullptr || node >= graph->nodes.size()) return std::to_string(node) + ",,,,";
  const Node& n = graph->nodes[node];
  return std::to_string(node) + ',' + csv_field(node_name(*graph, node)) + ',' +
         csv_field(label_path(*graph, n.label)) + ',' + kind_name(n.kind) + ',' +
         std::to_string(n.lane);
}

class Csv {
 public:
  Csv(const Selection& selection, detail::AtomicFile& out) : selection_(selection), out_(out) {
    out_.write(kHeader);
  }

  void take(const SampleBlock& block) {
    const GraphVersion* graph = selection_.topology.find(block.graph, block.version);
    const std::string begin = replay_fields(block, graph);
    auto& [nodes, kinds] = nodes_[{block.graph, block.version}];
    if (graph != nullptr && nodes.empty()) {
      for (std::uint32_t i = 0; i < graph->nodes.size(); ++i)
        nodes.push_back(node_fields(graph, i));
      for (const detail::KernelKind kind : kernel_kinds(*graph))
        kinds.emplace_back(kind == detail::KernelKind::Other ? "" : kernel_kind_name(kind));
    }
    const std::string end = columns_after_bytes(selection_.topology.session_of_graph(block.graph));
    for (const Sample& s : block.samples) {
      out_.write(begin);
      out_.write(s.node < nodes.size() ? nodes[s.node] : node_fields(nullptr, s.node));
      out_.write(',' + std::to_string(s.worker) + ',' + std::to_string(s.occurrence) + ',' +
                 source_name(block.source) + ',');
      // Unknown times are empty fields.
      if (s.started == 0) {
        out_.write(",");
      } else {
        out_.write(std::to_string(s.started) + ',' + std::to_string(s.duration));
      }
      const bool is_copy =
          graph != nullptr && s.node < graph->nodes.size() && graph->nodes[s.node].bytes != 0;
      out_.write(',' + (is_copy ? std::to_string(graph->nodes[s.node].bytes) : "") + end +
                 (s.node < kinds.size() ? kinds[s.node] : "") + "\r\n");
    }
  }

  void take(const Replay& replay) {
    const std::string begin =
        replay_fields(replay, selection_.topology.find(replay.graph, replay.version));
    const auto queue = selection_.topology.queues.find(replay.queue);
    const bool is_named = queue != selection_.topology.queues.end() && !queue->second.label.empty();
    out_.write(
        begin + ",,,replay,," + std::to_string(replay.thread) + ",,," + known(replay.started) +
        ',' +
        (replay.started == 0 || replay.ended < replay.started
             ? ""
             : std::to_string(replay.ended - replay.started)) +
        ',' +
        end_of_row(selection_.topology.session_of_graph(replay.graph),
                   known(replay.launched) + ',' + known(replay.launch_returned) + ',' +
                       (is_named ? csv_field(queue->second.label) : std::to_string(replay.queue))));
  }

  void take(const HostRange& range) {
    const bool of_graph = range.graph != kNone;
    const bool has_times = range.started != 0 && range.ended >= range.started;
    out_.write(
        (of_graph ? graph_fields(range.graph) : ",") + ",,," +
        (range.replay == 0 ? "" : std::to_string(range.replay)) + ",," + csv_field(range.name) +
        ",,range,," + std::to_string(range.thread) + ',' + std::to_string(range.depth) + ",host," +
        (has_times
             ? std::to_string(range.started) + ',' + std::to_string(range.ended - range.started)
             : ",") +
        ',' + end_of_row(selection_.topology.session_of_thread(range.thread)));
  }

  void take(const PoolState& pool) {
    out_.write(",,,,,," + csv_field(pool_name(pool.pool, pool.label)) + ",,pool,,,,host," +
               (pool.at == 0 ? "" : std::to_string(pool.at)) + ",," +
               std::to_string(pool_bytes(pool)) +
               end_of_row(selection_.topology.session_of_device(pool.device)));
  }

  void take(const CreationCost& cost) {
    const auto line = [&](const char* kind, Time duration, std::int64_t bytes) {
      if (duration == 0 && bytes == kUnknownBytes) return;
      out_.write(graph_fields(cost.graph) + ",,,,,,," + kind + ",,,,host,," +
                 (duration == 0 ? "" : std::to_string(duration)) + ',' +
                 (bytes == kUnknownBytes ? "" : std::to_string(bytes)) +
                 end_of_row(selection_.topology.session_of_graph(cost.graph)));
    };
    line("capture", cost.capture_time, cost.capture_bytes);
    line("first launch", cost.launch_time, cost.launch_bytes);
  }

 private:
  // `launch`: the columns of a replay.
  [[nodiscard]] std::string columns_after_bytes(std::uint32_t session,
                                                const std::string& launch = ",,") const {
    const auto rank = selection_.topology.rank_of(session);
    return ',' + (rank ? std::to_string(*rank) : "") + ',' + launch + ',';
  }
  [[nodiscard]] std::string end_of_row(std::uint32_t session,
                                       const std::string& launch = ",,") const {
    return columns_after_bytes(session, launch) + "\r\n";
  }
  // An unknown time is an empty field.
  [[nodiscard]] static std::string known(Time time) {
    return time == 0 ? std::string() : std::to_string(time);
  }
  // The columns up to the number of the replay. `record`: a replay, or its samples.
  template <class Record>
  [[nodiscard]] static std::string replay_fields(const Record& record, const GraphVersion* graph) {
    return std::to_string(record.graph) + ',' +
           (graph == nullptr ? "" : csv_field(graph_name(*graph))) + ',' +
           std::to_string(record.version) + ',' + std::to_string(record.exec) + ',' +
           std::to_string(record.replay) + ',';
  }
  // The columns of a row that name a graph.
  [[nodiscard]] std::string graph_fields(std::uint32_t id) const {
    const auto graph = selection_.topology.graphs.lower_bound({id, 0});
    const bool is_known = graph != selection_.topology.graphs.end() && graph->first.first == id;
    return std::to_string(id) + ',' + (is_known ? csv_field(graph_name(graph->second)) : "");
  }

  const Selection& selection_;
  detail::AtomicFile& out_;
  struct NodeColumns {
    std::vector<std::string> fields, kernel_kinds;  // by node
  };
  std::map<std::pair<std::uint32_t, std::uint32_t>, NodeColumns> nodes_;  // by graph and version
};

}  // namespace

ExportReport export_csv(const TraceReader& reader, const ExportDesc& desc) {
  const Selection selection = select(reader, desc);
  detail::AtomicFile out(desc.output, output_of(reader));
  Csv csv(selection, out);
  ExportReport report;
  for_each_chunk(reader, desc.progress, [&](const Records& records) {
    for (const Replay& replay : records.replays) {
      if (!selection.takes(replay.graph)) continue;
      csv.take(replay);
      ++report.replays;
    }
    for (const SampleBlock& block : records.sample_blocks) {
      if (!selection.takes(block.graph)) continue;
      csv.take(block);
      report.samples += block.samples.size();
    }
    for (const HostRange& range : records.host_ranges) {
      // Ranges outside graphs are part of every selection.
      if (range.graph == kNone || selection.takes(range.graph)) csv.take(range);
    }
    for (const PoolState& pool : records.pool_states) csv.take(pool);
  });
  for (const auto& [graph, cost] : selection.topology.creation_costs) {
    if (selection.takes(graph)) csv.take(cost);
  }
  out.commit();
  return report;
}

}  // namespace reprise::trace
