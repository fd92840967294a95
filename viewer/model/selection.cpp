#include "model/selection.hpp"

#include <algorithm>

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

// Lower-cases ASCII letters only.
std::string lower(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

std::vector<std::string> words(const std::string& text) {
  std::vector<std::string> all;
  bool inside = false;
  for (const char c : lower(text)) {
    const bool blank = c == ' ' || c == '\t';
    if (!blank && !inside) all.emplace_back();
    if (!blank) all.back() += c;
    inside = !blank;
  }
  return all;
}

bool has(const std::string& text, const std::string& word) {
  return text.find(word) != std::string::npos;
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

std::vector<std::uint8_t> matching_nodes(const Filter& filter, const Graph& graph) {
  std::vector<std::uint8_t> passes(graph.node_count(), 1);
  const std::vector<std::string> wanted = words(filter.text);
  // Label paths and buffer names are computed once each, not once per node.
  const auto& record = graph.record();
  std::vector<std::string> paths, buffers;
  std::vector<std::uint8_t> in_labels(record.labels.size(), 1);
  for (std::uint32_t l = 0; l < record.labels.size(); ++l) {
    if (!wanted.empty()) paths.push_back(lower(graph.label_path(l)));
    if (!filter.labels.empty()) {
      in_labels[l] = std::any_of(filter.labels.begin(), filter.labels.end(),
                                 [&](std::uint32_t a) { return graph.is_below(l, a); })
                         ? 1
                         : 0;
    }
  }
  std::vector<std::uint32_t> segment_of(graph.node_count(), trace::kNone);
  if (!wanted.empty()) {
    for (std::uint32_t b = 0; b < record.buffers.size(); ++b)
      buffers.push_back(lower(graph.buffer_name(b)));
    for (std::uint32_t s = 0; s < record.segments.size(); ++s)
      std::fill_n(segment_of.begin() + record.segments[s].first_node, record.segments[s].nodes, s);
  }
  for (std::uint32_t n = 0; n < graph.node_count(); ++n) {
    const trace::Node& node = record.nodes[n];
    bool pass =
        (filter.kinds >> static_cast<unsigned>(node.kind) & 1) != 0 && in_labels[node.label] != 0;
    if (pass && !wanted.empty()) {
      const std::string name = lower(graph.node_name(n)), kernel = lower(graph.kernel_name(n));
      const auto accesses = graph.accesses(n);
      pass = std::all_of(wanted.begin(), wanted.end(), [&](const std::string& word) {
        return has(name, word) || has(kernel, word) || has(paths[node.label], word) ||
               (segment_of[n] != trace::kNone && word == segment_word(segment_of[n])) ||
               std::any_of(accesses.begin(), accesses.end(), [&](const trace::NodeAccess& a) {
                 return has(buffers[a.buffer], word);
               });
      });
    }
    passes[n] = pass ? 1 : 0;
  }
  return passes;
}

std::vector<std::uint8_t> matching_buffers(const Filter& filter, const Graph& graph) {
  const std::vector<std::uint8_t> nodes = matching_nodes(filter, graph);
  const std::vector<std::string> wanted = words(filter.text);
  std::vector<std::uint8_t> passes(graph.record().buffers.size(), 0);
  for (std::uint32_t b = 0; b < passes.size(); ++b) {
    const auto uses = graph.uses(b);
    bool pass = std::any_of(uses.begin(), uses.end(),
                            [&](const BufferUse& u) { return nodes[u.node] != 0; });
    if (!pass && filter.kinds == Filter{}.kinds && filter.labels.empty()) {
      const std::string name = lower(graph.buffer_name(b));
      pass = std::all_of(wanted.begin(), wanted.end(),
                         [&](const std::string& word) { return has(name, word); });
    }
    passes[b] = pass ? 1 : 0;
  }
  return passes;
}

}  // namespace reprise::model
