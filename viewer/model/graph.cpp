#include "model/graph.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "trace/record_names.hpp"

namespace reprise::model {

// `each` calls its argument with (row, item) for every item, in the same order on every call.
template <class T, class Each>
Graph::Rows<T> Graph::make_rows(std::size_t count, Each each) {
  Rows<T> rows;
  rows.offsets.assign(count + 1, 0);
  each([&](std::uint32_t r, const T&) { ++rows.offsets[r + 1]; });
  for (std::size_t i = 0; i < count; ++i) rows.offsets[i + 1] += rows.offsets[i];
  rows.items.resize(rows.offsets.back());
  std::vector<std::uint64_t> next(rows.offsets.begin(), rows.offsets.end() - 1);
  each([&](std::uint32_t r, const T& item) { rows.items[next[r]++] = item; });
  return rows;
}

namespace {

std::uint64_t topology_of(const trace::GraphVersion& record) {
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a, by words
  const auto add = [&](std::uint64_t word) { hash = (hash ^ word) * 0x100000001b3; };
  add(record.nodes.size());
  for (const trace::Node& node : record.nodes) add(static_cast<std::uint64_t>(node.kind));
  // Parallel edges order their nodes once.
  for (std::size_t e = 0; e < record.edges.size(); ++e) {
    const trace::Edge& edge = record.edges[e];
    if (e != 0 && edge.from == record.edges[e - 1].from && edge.to == record.edges[e - 1].to)
      continue;
    add(std::uint64_t{edge.from} << 32 | edge.to);
  }
  for (const trace::Body& body : record.bodies) {
    add(std::uint64_t{body.parent} << 32 | body.first_node);
    add(static_cast<std::uint64_t>(body.kind));
  }
  return hash ^ hash >> 29;
}

}  // namespace

Graph::Graph(trace::GraphVersion record) : record_(std::move(record)) {
  topology_ = topology_of(record_);
  kernel_kinds_ = trace::kernel_kinds(record_);
  const std::size_t nodes = record_.nodes.size();
  const auto edges = static_cast<std::uint32_t>(record_.edges.size());
  predecessors_ = make_rows<Neighbour>(nodes, [&](auto put) {
    for (std::uint32_t e = 0; e < edges; ++e)
      put(record_.edges[e].to, Neighbour{record_.edges[e].from, e});
  });
  successors_ = make_rows<Neighbour>(nodes, [&](auto put) {
    for (std::uint32_t e = 0; e < edges; ++e)
      put(record_.edges[e].from, Neighbour{record_.edges[e].to, e});
  });
  const auto sort = [](Rows<Neighbour>& rows) {
    for (std::size_t i = 0; i + 1 < rows.offsets.size(); ++i) {
      const auto at = [&](std::size_t row) {
        return rows.items.begin() + static_cast<std::ptrdiff_t>(rows.offsets[row]);
      };
      std::sort(at(i), at(i + 1), [](const Neighbour& a, const Neighbour& b) {
        return std::pair(a.node, a.edge) < std::pair(b.node, b.edge);
      });
    }
  };
  sort(predecessors_);
  sort(successors_);
  uses_ = make_rows<BufferUse>(record_.buffers.size(), [&](auto put) {
    for (std::uint32_t n = 0; n < nodes; ++n) {
      const trace::Node& node = record_.nodes[n];
      for (std::uint32_t a = node.first_access; a < node.first_access + node.access_count; ++a) {
        put(record_.accesses[a].buffer, BufferUse{n, a});
      }
    }
  });
  child_labels_ = make_rows<std::uint32_t>(record_.labels.size(), [&](auto put) {
    for (std::uint32_t l = 1; l < record_.labels.size(); ++l) put(record_.labels[l].parent, l);
  });
  label_nodes_ = make_rows<std::uint32_t>(record_.labels.size(), [&](auto put) {
    for (std::uint32_t n = 0; n < nodes; ++n) put(record_.nodes[n].label, n);
  });
}

std::span<const trace::NodeAccess> Graph::accesses(std::uint32_t node) const {
  return std::span<const trace::NodeAccess>(record_.accesses)
      .subspan(record_.nodes[node].first_access, record_.nodes[node].access_count);
}

std::span<const trace::BlockRelation> Graph::relations_into(std::uint32_t node) const {
  const auto& all = record_.block_relations;
  const auto first = std::partition_point(
      all.begin(), all.end(), [&](const trace::BlockRelation& one) { return one.to < node; });
  const auto end = std::partition_point(
      first, all.end(), [&](const trace::BlockRelation& one) { return one.to == node; });
  return {first, end};
}

const trace::BlockRelation* Graph::relation(std::uint32_t from, std::uint32_t to) const {
  const auto relations = relations_into(to);
  const auto found =
      std::partition_point(relations.begin(), relations.end(),
                           [&](const trace::BlockRelation& one) { return one.from < from; });
  return found == relations.end() || found->from != from ? nullptr : &*found;
}

bool Graph::is_below(std::uint32_t label, std::uint32_t ancestor) const {
  while (label > ancestor) label = record_.labels[label].parent;
  return label == ancestor;
}

std::uint32_t Graph::body_of(std::uint32_t node) const noexcept {
  if (node < own_node_count()) return trace::kNone;
  const auto behind = std::upper_bound(
      record_.bodies.begin(), record_.bodies.end(), node,
      [](std::uint32_t n, const trace::Body& body) { return n < body.first_node; });
  return static_cast<std::uint32_t>(behind - record_.bodies.begin()) - 1;
}

std::uint32_t Graph::parent(std::uint32_t node) const noexcept {
  const std::uint32_t body = body_of(node);
  return body == trace::kNone ? trace::kNone : record_.bodies[body].parent;
}

std::uint32_t Graph::own_node_of(std::uint32_t node) const noexcept {
  while (node >= own_node_count()) node = parent(node);
  return node;
}

std::uint64_t Graph::changes(std::uint32_t node) const {
  const auto found =
      std::lower_bound(record_.changes.begin(), record_.changes.end(), node,
                       [](const trace::NodeChanges& of, std::uint32_t n) { return of.node < n; });
  return found == record_.changes.end() || found->node != node ? 0 : found->changes;
}

std::uint64_t Graph::changes() const {
  std::uint64_t all = 0;
  for (const trace::NodeChanges& of : record_.changes) all += of.changes;
  return all;
}

std::uint32_t Graph::stack(std::uint32_t node) const {
  const auto found =
      std::lower_bound(record_.stacks.begin(), record_.stacks.end(), node,
                       [](const trace::NodeStack& of, std::uint32_t n) { return of.node < n; });
  return found == record_.stacks.end() || found->node != node ? trace::kNone : found->frame;
}

std::vector<Graph::LaunchLine> Graph::launch_lines() const {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> sums;  // by file and line
  for (const trace::LaunchStack& of : record_.launch_stacks) {
    const std::uint32_t file = of.line != 0 ? of.file : record_.frames[of.frame].file;
    sums[{file, of.line}] += of.launches;
  }
  std::vector<LaunchLine> lines;
  for (const auto& [at, launches] : sums) {
    const auto& [file, line] = at;
    const std::string& path = record_.strings[file];
    lines.push_back(
        {path.substr(path.rfind('/') + 1) + (line == 0 ? "" : ":" + std::to_string(line)),
         launches});
  }
  std::stable_sort(lines.begin(), lines.end(), [](const LaunchLine& a, const LaunchLine& b) {
    return a.launches > b.launches;
  });
  return lines;
}

std::string Graph::name() const { return trace::graph_name(record_); }

std::string Graph::node_name(std::uint32_t node) const { return trace::node_name(record_, node); }

const std::string& Graph::kernel_name(std::uint32_t node) const {
  const std::uint32_t kernel = record_.nodes[node].kernel;
  return record_.strings[kernel == trace::kNone ? 0 : record_.kernels[kernel].name];
}

const std::string& Graph::full_kernel_name(std::uint32_t node) const {
  const std::uint32_t kernel = record_.nodes[node].kernel;
  return record_.strings[kernel == trace::kNone ? 0 : record_.kernels[kernel].full_name];
}

const char* Graph::kind_name(std::uint32_t node) const noexcept {
  const detail::KernelKind kind = kernel_kinds_[node];
  return kind == detail::KernelKind::Other ? trace::kind_name(record_.nodes[node].kind)
                                           : detail::kernel_kind_name(kind);
}

std::string Graph::label_path(std::uint32_t label) const {
  return trace::label_path(record_, label);
}

}  // namespace reprise::model
