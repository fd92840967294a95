#include "dependencies/topological_sort.hpp"

#include <algorithm>
#include <string>

#include <reprise/error.hpp>

#include "base/forward_order.hpp"
#include "base/text.hpp"
#include "dependencies/describe.hpp"
#include "dependencies/graph_builder.hpp"

namespace reprise::detail {

namespace {

constexpr std::size_t kMaxNamedCommands = 16;

// Edges grouped by target node.
class EdgeLists {
 public:
  EdgeLists(std::uint32_t nodes, std::span<const Edge> forward, std::span<const Edge> extra)
      : first_(nodes + 2, 0) {
    for (const auto edges : {forward, extra}) {
      for (const Edge& edge : edges) ++first_[edge.to + 2];
    }
    for (std::size_t i = 2; i < first_.size(); ++i) first_[i] += first_[i - 1];
    edges_.resize(forward.size() + extra.size());
    for (const auto edges : {forward, extra}) {
      for (const Edge& edge : edges) edges_[first_[edge.to + 1]++] = &edge;
    }
  }
  [[nodiscard]] std::span<const Edge* const> of(std::uint32_t node) const {
    return {edges_.data() + first_[node], edges_.data() + first_[node + 1]};
  }

 private:
  std::vector<std::size_t> first_;
  std::vector<const Edge*> edges_;
};

// Finds a cycle among the unordered nodes; each of them waits for another one. Returns its
// commands.
std::vector<std::uint32_t> find_cycle(const DependencyGraph& graph, const EdgeLists& into,
                                      std::span<const std::uint32_t> position) {
  const auto is_unordered = [&](std::uint32_t node) { return position[node] == kNone; };
  std::uint32_t node = 0;
  while (!is_unordered(node)) ++node;
  std::vector<std::uint32_t> path_index(graph.node_count(), kNone), path;
  while (path_index[node] == kNone) {
    path_index[node] = static_cast<std::uint32_t>(path.size());
    path.push_back(node);
    for (const Edge* edge : into.of(node)) {
      if (is_unordered(edge->from)) {
        node = edge->from;
        break;
      }
    }
  }
  std::vector<std::uint32_t> cycle(path.begin() + path_index[node],
                                   path.end());  // each waits for the next
  std::reverse(cycle.begin(), cycle.end());
  std::rotate(cycle.begin(), std::min_element(cycle.begin(), cycle.end()), cycle.end());
  for (std::uint32_t& member : cycle) member = graph.node_command[member];
  return cycle;
}

}  // namespace

DependencyGraph order_topologically(const Recording& recording, const DependencyGraph& forward,
                                    std::span<const Edge> extra) {
  const std::uint32_t count = forward.node_count();
  std::vector<DirectedEdge> directed;
  directed.reserve(forward.edges.size() + extra.size());
  for (const auto edges : {std::span<const Edge>(forward.edges), extra}) {
    for (const Edge& edge : edges) directed.push_back({edge.from, edge.to});
  }
  const std::vector<std::uint32_t> order = order_forward(count, directed);
  std::vector<std::uint32_t> position(count, kNone);
  for (std::uint32_t i = 0; i < order.size(); ++i) position[order[i]] = i;
  const EdgeLists into(count, forward.edges, extra);
  if (order.size() != count) throw_cycle(recording, find_cycle(forward, into, position));

  GraphBuilder builder;
  builder.reserve(count, forward.edges.size() + extra.size());
  for (const std::uint32_t node : order) {
    const std::uint32_t command = forward.node_command[node];
    static_cast<void>(forward.is_join[node] != 0 ? builder.begin_join(command)
                                                 : builder.begin_work(command));
    for (const Edge* edge : into.of(node)) builder.add_edge(position[edge->from], edge->cause);
    builder.end_node();
  }
  return builder.finish();
}

void throw_cycle(const Recording& recording, std::span<const std::uint32_t> commands) {
  std::string text = concat("commands of \"", recording.label, "\" form a dependency cycle: ");
  for (std::size_t i = 0; i < std::min(commands.size(), kMaxNamedCommands); ++i) {
    text += concat(describe_command(recording, commands[i]), "; before ");
  }
  if (commands.size() > kMaxNamedCommands)
    text += concat(commands.size() - kMaxNamedCommands, " more commands; before ");
  text += concat("command ", commands[0], " again");
  ErrorDetails details;
  details.code = ErrorCode::CyclicDependency;
  details.stage = Stage::Dependencies;
  details.command = commands[0];
  details.label = recording.label_path(recording.commands[commands[0]].label);
  throw Error(details, text);
}

}  // namespace reprise::detail
