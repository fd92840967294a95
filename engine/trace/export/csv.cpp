#include <string>
#include <string_view>

#include "base/atomic_file.hpp"
#include "trace/export/exporter.hpp"
#include "trace/export/selection.hpp"

namespace reprise::trace {

namespace {

constexpr const char* kHeader =
    "graph,graph_name,version,exec,replay,node,node_name,label,kind,lane,worker,occurrence,source,"
    "started_ns,duration_ns\r\n";

// Quotes the text if RFC 4180 requires it. A spreadsheet would execute a text that starts like a
// formula: an apostrophe makes it a text.
std::string field(const std::string& name) {
  const bool is_formula =
      !name.empty() && std::string_view("=+-@\t").find(name[0]) != std::string_view::npos;
  const std::string text = is_formula ? "'" + name : name;
  if (text.find_first_of("\",\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

// The columns of a row that describe the node.
std::string node_fields(const GraphVersion* graph, std::uint32_t node) {
  if (graph == nullptr || node >= graph->nodes.size()) return std::to_string(node) + ",,,,";
  const Node& n = graph->nodes[node];
  return std::to_string(node) + ',' + field(node_name(*graph, node)) + ',' +
         field(label_path(*graph, n.label)) + ',' + kind_name(n.kind) + ',' +
         std::to_string(n.lane);
}

class Csv {
 public:
  Csv(const Selection& selection, detail::AtomicFile& out) : selection_(selection), out_(out) {
    out_.write(kHeader);
  }

  void take(const SampleBlock& block) {
    const GraphVersion* graph = selection_.topology.find(block.graph, block.version);
    const std::string begin = std::to_string(block.graph) + ',' +
                              (graph == nullptr ? "" : field(graph_name(*graph))) + ',' +
                              std::to_string(block.version) + ',' + std::to_string(block.exec) +
                              ',' + std::to_string(block.replay) + ',';
    std::vector<std::string>& nodes = nodes_[{block.graph, block.version}];
    if (graph != nullptr && nodes.empty()) {
      for (std::uint32_t i = 0; i < graph->nodes.size(); ++i)
        nodes.push_back(node_fields(graph, i));
    }
    for (const Sample& s : block.samples) {
      out_.write(begin);
      out_.write(s.node < nodes.size() ? nodes[s.node] : node_fields(nullptr, s.node));
      out_.write(',' + std::to_string(s.worker) + ',' + std::to_string(s.occurrence) + ',' +
                 source_name(block.source) + ',');
      // Unknown times are empty fields.
      if (s.started == 0) {
        out_.write(",\r\n");
      } else {
        out_.write(std::to_string(s.started) + ',' + std::to_string(s.duration) + "\r\n");
      }
    }
  }

 private:
  const Selection& selection_;
  detail::AtomicFile& out_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::string>> nodes_;
};

}  // namespace

ExportReport export_csv(const TraceReader& reader, const ExportDesc& desc) {
  const Selection selection = select(reader, desc);
  detail::AtomicFile out(desc.output);
  Csv csv(selection, out);
  ExportReport report;
  for_each_chunk(reader, desc.progress, [&](const Records& records) {
    for (const SampleBlock& block : records.sample_blocks) {
      if (!selection.takes(block.graph)) continue;
      csv.take(block);
      ++report.replays;
      report.samples += block.samples.size();
    }
  });
  out.commit();
  return report;
}

}  // namespace reprise::trace
