#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/atomic_file.hpp"
#include "base/log_histogram.hpp"
#include "export/export_error.hpp"
#include "export/exporter.hpp"
#include "export/selection.hpp"
#include "trace/record_names.hpp"

namespace reprise::trace {

namespace {

std::string dot_text(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else if (static_cast<unsigned char>(c) >= 0x20) {
      out += c;
    }
  }
  return out + '"';
}

std::string microseconds(double ns) {
  char text[64];
  std::snprintf(text, sizeof text, "%.3f us", ns / 1e3);
  return text;
}

// The newest version of the selected graph or, without a selection, of the only graph.
const GraphVersion& graph_to_draw(const Selection& selection) {
  std::set<std::uint32_t> ids;
  const GraphVersion* newest = nullptr;
  std::string graphs;
  for (const auto& [key, graph] : selection.topology.graphs) {
    if (!selection.takes(key.first)) continue;
    if (ids.insert(key.first).second)
      graphs +=
          (graphs.empty() ? "" : ", ") + std::to_string(key.first) + " (" + graph_name(graph) + ")";
    newest = &graph;
  }
  if (newest == nullptr) throw ExportError("the trace has no graph to draw");
  if (ids.size() > 1)
    throw ExportError("the trace has several graphs; name the one to draw: " + graphs);
  return *newest;
}

struct CriticalPath {
  double time = 0;  // ns
  std::vector<std::uint8_t> nodes;
  std::vector<std::uint8_t> edges;
};

// Number of nodes outside bodies. Nodes of bodies follow; their times are part of their parent's.
std::size_t own_nodes(const GraphVersion& graph) {
  return graph.bodies.empty() ? graph.nodes.size() : graph.bodies.front().first_node;
}

// The path with the largest sum of node times in the outermost graph.
CriticalPath critical_path(const GraphVersion& graph, std::vector<double> times) {
  std::fill(times.begin() + static_cast<std::ptrdiff_t>(own_nodes(graph)), times.end(), 0.0);
  constexpr std::size_t kNoEdge = ~std::size_t{0};
  std::vector<double> ends = times;
  std::vector<std::size_t> by(times.size(), kNoEdge);
  // Sorted by target, so all edges into a node precede its outgoing edges.
  std::vector<std::size_t> order(graph.edges.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return graph.edges[a].to < graph.edges[b].to;
  });
  for (const std::size_t i : order) {
    const Edge& e = graph.edges[i];
    if (by[e.to] == kNoEdge || ends[e.from] + times[e.to] > ends[e.to]) {
      ends[e.to] = ends[e.from] + times[e.to];
      by[e.to] = i;
    }
  }
  CriticalPath path{0, std::vector<std::uint8_t>(times.size(), 0),
                    std::vector<std::uint8_t>(graph.edges.size(), 0)};
  if (times.empty()) return path;
  auto node = static_cast<std::size_t>(std::max_element(ends.begin(), ends.end()) - ends.begin());
  path.time = ends[node];
  if (path.time <= 0) return path;
  path.nodes[node] = 1;
  while (by[node] != kNoEdge) {
    path.edges[by[node]] = 1;
    node = graph.edges[by[node]].from;
    path.nodes[node] = 1;
  }
  return path;
}

// White to a warm red on which black text stays readable.
std::string heat(double part) {
  const auto mixed = [part](int low, int high) {
    return static_cast<unsigned>(low + (high - low) * part);
  };
  char text[16];
  std::snprintf(text, sizeof text, "#%02x%02x%02x", mixed(255, 250), mixed(255, 140),
                mixed(255, 100));
  return text;
}

std::string mebibytes(std::uint64_t bytes) {
  char text[64];
  std::snprintf(text, sizeof text, "%.1f MiB", static_cast<double>(bytes) / (1 << 20));
  return text;
}

// What the notes beside the graph list.
struct Context {
  std::map<std::string, detail::DurationHistogram> ranges;  // by name
  std::map<std::uint32_t, PoolState> pools;                 // latest state of each

  void take(const Records& records, std::uint32_t graph) {
    for (const HostRange& range : records.host_ranges) {
      // Ranges outside graphs are part of every selection.
      if ((range.graph == kNone || range.graph == graph) && range.started != 0 &&
          range.ended >= range.started)
        ranges[range.name].add(range.ended - range.started);
    }
    for (const PoolState& pool : records.pool_states) pools.insert_or_assign(pool.pool, pool);
  }
};

class Drawing {
 public:
  Drawing(const GraphVersion& graph, const std::vector<detail::DurationHistogram>& times,
          const Context& context)
      : graph_(graph), times_(times), context_(context) {
    for (const detail::DurationHistogram& t : times) {
      if (medians_.size() < own_nodes(graph)) total_ += static_cast<double>(t.sum());
      medians_.push_back(t.quantile(0.5));
      slowest_ = std::max(slowest_, medians_.back());
    }
    path_ = critical_path(graph, medians_);
  }

  std::string text(std::uint64_t replays) const {
    std::string out = "digraph " + dot_text(graph_name(graph_)) + " {\n";
    out += "  graph [label=" +
           dot_text(
               graph_name(graph_) + " (graph " + std::to_string(graph_.graph) + ", version " +
               std::to_string(graph_.version) + "), " + std::to_string(replays) +
               " sampled replays\ncritical path (bold), of medians: " + microseconds(path_.time)) +
           ", labelloc=t, fontname=\"sans-serif\"];\n";
    out +=
        "  node [shape=box, style=\"rounded,filled\", fillcolor=white, fontname=\"sans-serif\", "
        "fontsize=10];\n";
    out += "  edge [fontname=\"sans-serif\", fontsize=8, color=gray50];\n";
    for (std::uint32_t i = 0; i < own_nodes(graph_); ++i) out += node(i);
    for (std::size_t i = 0; i < graph_.bodies.size(); ++i) out += body(i);
    for (std::size_t i = 0; i < graph_.edges.size(); ++i) out += edge(i);
    return out + ranges() + pools() + "}\n";
  }

 private:
  static constexpr std::size_t kNoteLines = 20;

  static std::string note(const char* id, const char* title,
                          const std::vector<std::string>& lines) {
    if (lines.empty()) return {};
    std::string text = title;
    for (std::size_t i = 0; i < std::min(lines.size(), kNoteLines); ++i) text += '\n' + lines[i];
    if (lines.size() > kNoteLines)
      text += "\n... " + std::to_string(lines.size() - kNoteLines) + " more";
    return "  " + std::string(id) + " [shape=note, style=\"\", label=" + dot_text(text) + "];\n";
  }

  // By total duration, longest first.
  std::string ranges() const {
    std::vector<std::pair<std::string, const detail::DurationHistogram*>> order;
    for (const auto& [name, times] : context_.ranges) order.emplace_back(name, &times);
    std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
      return a.second->sum() > b.second->sum();
    });
    std::vector<std::string> lines;
    for (const auto& [name, times] : order)
      lines.push_back((name.empty() ? "range" : name) + ": " + std::to_string(times->count()) +
                      ", median " + microseconds(times->quantile(0.5)));
    return note("ranges", "trace ranges", lines);
  }

  std::string pools() const {
    std::vector<std::string> lines;
    for (const auto& [id, pool] : context_.pools)
      lines.push_back(pool_name(id, pool.label) + ": " + mebibytes(pool_bytes(pool)) +
                      (pool.peak == 0 ? "" : ", peak " + mebibytes(pool.peak)));
    return note("pools", "device memory of pools", lines);
  }

  // A dashed box around a body, with a dotted line from the node that runs it.
  std::string body(std::size_t i) const {
    const Body& of = graph_.bodies[i];
    std::string name = node_name(graph_, of.parent);
    if (of.kind == BodyKind::Else) name += ", else";
    if (of.kind == BodyKind::Case) name += ", case " + std::to_string(of.branch);
    std::string out = "  subgraph cluster_body" + std::to_string(i) +
                      " {\n    label=" + dot_text(name) + "; style=dashed; color=gray60;\n";
    for (std::uint32_t n = 0; n < of.nodes; ++n) out += node(of.first_node + n);
    out += "  }\n";
    if (of.nodes != 0)
      out += "  n" + std::to_string(of.parent) + " -> n" + std::to_string(of.first_node) +
             " [style=dotted];\n";
    return out;
  }

  std::string node(std::uint32_t i) const {
    std::string label = node_name(graph_, i);
    if (const std::string path = label_path(graph_, graph_.nodes[i].label); !path.empty())
      label += '\n' + path;
    if (times_[i].count() != 0) {
      char share[32];
      std::snprintf(share, sizeof share, "%.1f %%",
                    total_ > 0 ? 100 * static_cast<double>(times_[i].sum()) / total_ : 0);
      label += "\nmedian " + microseconds(medians_[i]) + ", " + share;
    } else {
      label += "\nno time";
    }
    std::string out = "  n" + std::to_string(i) + " [label=" + dot_text(label);
    if (slowest_ > 0) out += ", fillcolor=\"" + heat(medians_[i] / slowest_) + '"';
    if (path_.nodes[i] != 0) out += ", penwidth=2.5";
    return out + "];\n";
  }

  std::string edge(std::size_t i) const {
    const Edge& e = graph_.edges[i];
    std::string what = cause_name(e.cause);
    if (e.hazard != Hazard::None) what = hazard_name(e.hazard);
    if (e.buffer != kNone) what += ' ' + graph_.strings[graph_.buffers[e.buffer].name];
    std::string out = "  n" + std::to_string(e.from) + " -> n" + std::to_string(e.to) +
                      " [label=" + dot_text(what);
    if (e.cause == EdgeCause::Lane || e.cause == EdgeCause::EntryExit) out += ", style=dashed";
    if (path_.edges[i] != 0) out += ", penwidth=2.5, color=black";
    return out + "];\n";
  }

  const GraphVersion& graph_;
  const std::vector<detail::DurationHistogram>& times_;
  const Context& context_;
  std::vector<double> medians_;
  double total_ = 0, slowest_ = 0;
  CriticalPath path_;
};

}  // namespace

ExportReport export_dot(const TraceReader& reader, const ExportDesc& desc) {
  const Selection selection = select(reader, desc);
  const GraphVersion& graph = graph_to_draw(selection);
  detail::AtomicFile out(desc.output, output_of(reader));
  std::vector<detail::DurationHistogram> times(graph.nodes.size());
  Context context;
  ExportReport report;
  for_each_chunk(reader, desc.progress, [&](const Records& records) {
    context.take(records, graph.graph);
    for (const SampleBlock& block : records.sample_blocks) {
      if (block.graph != graph.graph || block.version != graph.version) continue;
      ++report.replays;
      for (const Sample& s : block.samples) {
        if (s.node >= times.size() || s.started == 0) {
          ++report.left_out;
        } else {
          times[s.node].add(s.duration);
          ++report.samples;
        }
      }
    }
  });
  out.write(Drawing(graph, times, context).text(report.replays));
  out.commit();
  return report;
}

}  // namespace reprise::trace
