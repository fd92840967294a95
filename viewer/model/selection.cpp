#include "model/selection.hpp"

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <vector>

#include "trace/record_names.hpp"

namespace reprise::model {

namespace {

template <class T>
const T* selected(const Selection& selection, const Graph& graph) {
  const T* s = std::get_if<T>(&selection);
  return s != nullptr && s->graph == graph.key() ? s : nullptr;
}

bool touches(const Graph& graph, std::uint32_t node, std::uint32_t buffer) {
  const auto accesses = graph.accesses(node);
  return std::any_of(accesses.begin(), accesses.end(),
                     [&](const trace::NodeAccess& a) { return a.buffer == buffer; });
}

// Which nodes match a term about a text. Evaluates each text once: nodes share kernels, labels,
// buffers and files.
class TextMatches {
 public:
  TextMatches(const Query::Term& term, const Graph& graph) : term_(term), graph_(graph) {}

  bool operator()(std::uint32_t node) {
    const trace::Node& n = graph_.record().nodes[node];
    const auto is_field = [&](TextField field) {
      return term_.field == field || term_.field == TextField::Any;
    };
    return (term_.number && *term_.number == node) ||
           (is_field(TextField::Name) && matches(graph_.node_name(node))) ||
           (is_field(TextField::Kernel) && kernel_matches(node)) ||
           (is_field(TextField::Label) &&
            once(labels_, n.label, [&] { return graph_.label_path(n.label); })) ||
           (is_field(TextField::Buffer) && accesses_match(node)) ||
           (term_.field == TextField::Kind &&
            (matches(graph_.kind_name(node)) || matches(trace::kind_name(n.kind)))) ||
           ((term_.field == TextField::Source || term_.matches_source) &&
            (line_matches(n.file, n.line) || stack_matches(graph_.stack(node))));
  }

 private:
  template <class Results, class Text>
  bool once(Results& results, const typename Results::key_type& key, const Text& text) {
    const auto [at, is_new] = results.try_emplace(key, false);
    if (is_new) at->second = term_.matches(text());
    return at->second;
  }
  bool matches(const std::string& text) {
    return once(texts_, text, [&]() -> const std::string& { return text; });
  }
  // The short name of its kernel, and the whole one without parameters.
  bool kernel_matches(std::uint32_t node) {
    const std::uint32_t kernel = graph_.record().nodes[node].kernel;
    if (kernel == trace::kNone) return matches("");
    return matches(graph_.kernel_name(node)) || once(kernels_, kernel, [&] {
             const std::string& name = graph_.full_kernel_name(node);
             return name.substr(0, name.find('('));
           });
  }
  bool line_matches(std::uint32_t file, std::uint32_t line) {
    return line != 0 && once(sources_, std::uint64_t{file} << 32 | line, [&] {
             return graph_.record().strings[file] + ':' + std::to_string(line);
           });
  }
  // A line or function of a call stack. Each frame is evaluated once, before those that it calls.
  bool stack_matches(std::uint32_t innermost) {
    const trace::GraphVersion& record = graph_.record();
    if (innermost == trace::kNone) return false;
    if (frames_.empty()) {
      for (const trace::Frame& frame : record.frames) {
        frames_.push_back((frame.caller != trace::kNone && frames_[frame.caller]) ||
                          line_matches(frame.file, frame.line) ||
                          matches(record.strings[frame.function]));
      }
    }
    return frames_[innermost];
  }
  bool accesses_match(std::uint32_t node) {
    const auto accesses = graph_.accesses(node);
    return std::any_of(accesses.begin(), accesses.end(), [&](const trace::NodeAccess& a) {
      return once(buffers_, a.buffer, [&] { return graph_.buffer_name(a.buffer); });
    });
  }

  const Query::Term& term_;
  const Graph& graph_;
  std::unordered_map<std::string, bool> texts_;
  std::unordered_map<std::uint32_t, bool> kernels_, labels_, buffers_;
  std::unordered_map<std::uint64_t, bool> sources_;
  std::vector<bool> frames_;  // by frame; empty: not evaluated yet
};

// NaN: unknown.
double figure_of(const Graph& graph, std::uint32_t node, Figure figure,
                 const StatisticOf& statistics) {
  const trace::GraphVersion& record = graph.record();
  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  switch (figure) {
    case Figure::Node: return node;
    case Figure::Lane: return record.nodes[node].lane;
    case Figure::Bytes: return static_cast<double>(record.nodes[node].bytes);
    case Figure::Segment:
      for (std::size_t s = 0; s < record.segments.size(); ++s) {
        if (node - record.segments[s].first_node < record.segments[s].nodes)
          return static_cast<double>(s);
      }
      return kUnknown;
    default: return statistics ? statistics(node, figure) : kUnknown;
  }
}

}  // namespace

bool selects_node(const Selection& selection, const Graph& graph, std::uint32_t node) {
  if (const auto* s = selected<SelectedNode>(selection, graph)) return s->node == node;
  if (const auto* s = selected<SelectedBuffer>(selection, graph))
    return touches(graph, node, s->buffer);
  const auto any_edge = [&](auto of) {
    const auto at = [&](const Neighbour& x) { return of(x.edge); };
    const auto before = graph.predecessors(node), after = graph.successors(node);
    return std::any_of(before.begin(), before.end(), at) ||
           std::any_of(after.begin(), after.end(), at);
  };
  if (const auto* s = selected<SelectedEdge>(selection, graph))
    return any_edge([&](std::uint32_t e) { return e == s->edge; });
  if (const auto* s = selected<SelectedBarrier>(selection, graph)) {
    return any_edge([&](std::uint32_t e) { return graph.record().edges[e].barrier == s->barrier; });
  }
  return false;
}

bool selects_buffer(const Selection& selection, const Graph& graph, std::uint32_t buffer) {
  if (const auto* s = selected<SelectedBuffer>(selection, graph)) return s->buffer == buffer;
  const auto* s = selected<SelectedNode>(selection, graph);
  return s != nullptr && s->node < graph.node_count() && touches(graph, s->node, buffer);
}

bool selects_edge(const Selection& selection, const Graph& graph, std::uint32_t edge) {
  const trace::Edge& e = graph.record().edges[edge];
  if (const auto* s = selected<SelectedEdge>(selection, graph)) return s->edge == edge;
  if (const auto* s = selected<SelectedBarrier>(selection, graph)) return e.barrier == s->barrier;
  const auto* s = selected<SelectedNode>(selection, graph);
  return s != nullptr && (e.from == s->node || e.to == s->node);
}

std::string segment_word(std::uint32_t segment) { return "segment:" + std::to_string(segment); }

std::vector<std::uint8_t> matching_nodes(const Filter& filter, const Graph& graph,
                                         const StatisticOf& statistics) {
  const auto& record = graph.record();
  std::vector<std::uint8_t> in_labels(record.labels.size(), 1);
  for (std::uint32_t l = 0; l < record.labels.size() && !filter.labels.empty(); ++l) {
    in_labels[l] = std::any_of(filter.labels.begin(), filter.labels.end(),
                               [&](std::uint32_t a) { return graph.is_below(l, a); })
                       ? 1
                       : 0;
  }
  std::vector<std::uint8_t> passes(graph.node_count(), 0);
  for (std::uint32_t n = 0; n < passes.size(); ++n) {
    const bool has_kind = (filter.kinds >> static_cast<unsigned>(record.nodes[n].kind) & 1) != 0;
    passes[n] = has_kind && in_labels[record.nodes[n].label] != 0 ? 1 : 0;
  }
  const Query query(filter.text);
  for (const Query::Term& term : query.terms()) {
    TextMatches text_matches(term, graph);
    for (std::uint32_t n = 0; n < passes.size(); ++n) {
      if (passes[n] == 0) continue;
      const bool matches = term.figure ? term.accepts(figure_of(graph, n, *term.figure, statistics))
                                       : text_matches(n);
      if (matches == term.is_negated) passes[n] = 0;
    }
  }
  return passes;
}

std::vector<std::uint8_t> matching_buffers(const Filter& filter, const Graph& graph,
                                           std::span<const std::uint8_t> nodes) {
  const Query query(filter.text);
  const auto& terms = query.terms();
  const auto is_name = [](const Query::Term& term) {
    return !term.figure && (term.field == TextField::Any || term.field == TextField::Buffer);
  };
  // A query that only excludes, such as -copy, is about nodes.
  const bool is_about_names =
      filter.kinds == Filter{}.kinds && filter.labels.empty() &&
      std::all_of(terms.begin(), terms.end(), is_name) &&
      (terms.empty() || std::any_of(terms.begin(), terms.end(),
                                    [](const Query::Term& term) { return !term.is_negated; }));
  std::vector<std::uint8_t> passes(graph.record().buffers.size(), 0);
  for (std::uint32_t b = 0; b < passes.size(); ++b) {
    const auto uses = graph.uses(b);
    const bool pass =
        std::any_of(uses.begin(), uses.end(),
                    [&](const BufferUse& u) { return nodes[u.node] != 0; }) ||
        (is_about_names && std::all_of(terms.begin(), terms.end(), [&](const Query::Term& term) {
           return term.matches(graph.buffer_name(b)) != term.is_negated;
         }));
    passes[b] = pass ? 1 : 0;
  }
  return passes;
}

}  // namespace reprise::model
