#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/atomic_file.hpp"
#include "base/dot_writer.hpp"
#include "base/duration_histogram.hpp"
#include "export/export_error.hpp"
#include "export/exporter.hpp"
#include "export/selection.hpp"
#include "trace/record_names.hpp"

namespace reprise::trace {

using detail::DotWriter;

namespace {

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

// Data of the notes beside the graph.
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
    const std::string name = graph_name(graph_);
    DotWriter out(
        name,
        name + " (graph " + std::to_string(graph_.graph) + ", version " +
            std::to_string(graph_.version) + "), " + std::to_string(replays) +
            " sampled replays\ncritical path (bold), of medians: " + microseconds(path_.time),
        "style=\"rounded,filled\", fillcolor=white", "color=gray50");
    for (std::uint32_t i = 0; i < own_nodes(graph_); ++i) node(out, i);
    for (std::size_t i = 0; i < graph_.bodies.size(); ++i) body(out, i);
    for (std::size_t i = 0; i < graph_.edges.size(); ++i) edge(out, i);
    ranges(out);
    pools(out);
    return out.finish();
  }

 private:
  static constexpr std::size_t kNoteLines = 20;

  static void note(DotWriter& out, const char* id, const char* title,
                   const std::vector<std::string>& lines) {
    if (lines.empty()) return;
    std::string text = title;
    for (std::size_t i = 0; i < std::min(lines.size(), kNoteLines); ++i) text += '\n' + lines[i];
    if (lines.size() > kNoteLines)
      text += "\n... " + std::to_string(lines.size() - kNoteLines) + " more";
    out.node(id, text, "shape=note, style=\"\"");
  }

  // By total duration, longest first.
  void ranges(DotWriter& out) const {
    std::vector<std::pair<std::string, const detail::DurationHistogram*>> order;
    for (const auto& [name, times] : context_.ranges) order.emplace_back(name, &times);
    std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
      return a.second->sum() > b.second->sum();
    });
    std::vector<std::string> lines;
    for (const auto& [name, times] : order)
      lines.push_back((name.empty() ? "range" : name) + ": " + std::to_string(times->count()) +
                      ", median " + microseconds(times->quantile(0.5)));
    note(out, "ranges", "trace ranges", lines);
  }

  void pools(DotWriter& out) const {
    std::vector<std::string> lines;
    for (const auto& [id, pool] : context_.pools)
      lines.push_back(pool_name(id, pool.label) + ": " + mebibytes(pool_bytes(pool)) +
                      (pool.peak == 0 ? "" : ", peak " + mebibytes(pool.peak)));
    note(out, "pools", "device memory of pools", lines);
  }

  // A dashed box around a body, with a dotted line from the node that runs it.
  void body(DotWriter& out, std::size_t i) const {
    const Body& of = graph_.bodies[i];
    std::string name = node_name(graph_, of.parent);
    if (of.kind == BodyKind::Else) name += ", else";
    if (of.kind == BodyKind::Case) name += ", case " + std::to_string(of.branch);
    out.begin_cluster("body" + std::to_string(i), name, "dashed", "gray60");
    for (std::uint32_t n = 0; n < of.nodes; ++n) node(out, of.first_node + n);
    out.end_cluster();
    if (of.nodes != 0) out.edge(id(of.parent), id(of.first_node), {}, "style=dotted");
  }

  static std::string id(std::uint32_t node) { return "n" + std::to_string(node); }

  void node(DotWriter& out, std::uint32_t i) const {
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
    std::string attributes;
    if (slowest_ > 0) attributes = "fillcolor=\"" + heat(medians_[i] / slowest_) + '"';
    if (path_.nodes[i] != 0) attributes += ", penwidth=2.5";  // there are times: it has a colour
    out.node(id(i), label, attributes);
  }

  void edge(DotWriter& out, std::size_t i) const {
    const Edge& e = graph_.edges[i];
    std::string what = cause_name(e.cause);
    if (e.hazard != Hazard::None) what = hazard_name(e.hazard);
    if (e.buffer != kNone) what += ' ' + graph_.strings[graph_.buffers[e.buffer].name];
    std::string attributes;
    if (e.cause == EdgeCause::Lane || e.cause == EdgeCause::EntryExit) attributes = "style=dashed";
    if (path_.edges[i] != 0)
      attributes += std::string(attributes.empty() ? "" : ", ") + "penwidth=2.5, color=black";
    out.edge(id(e.from), id(e.to), what, attributes);
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
