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

constexpr std::size_t kNamedCommands = 16;

// Edges by the node that they lead to.
class EdgeLists {
 public:
  EdgeLists(std::uint32_t nodes, std::span<const Edge> forward, std::span<const Edge> more)
      : first_(nodes + 2, 0) {
    for (const auto part : {forward, more}) {
      for (const Edge& edge : part) ++first_[edge.to + 2];
    }
    for (std::size_t i = 2; i < first_.size(); ++i) first_[i] += first_[i - 1];
    edges_.resize(forward.size() + more.size());
    for (const auto part : {forward, more}) {
      for (const Edge& edge : part) edges_[first_[edge.to + 1]++] = &edge;
    }
  }
  [[nodiscard]] std::span<const Edge* const> of(std::uint32_t node) const {
    return {edges_.data() + first_[node], edges_.data() + first_[node + 1]};
  }

 private:
  std::vector<std::size_t> first_;
  std::vector<const Edge*> edges_;
};

// The commands of a cycle among nodes that wait for each other: each of them waits for another.
std::vector<std::uint32_t> find_cycle(const DependencyGraph& graph, const EdgeLists& into,
                                      std::span<const std::uint32_t> place) {
  const auto waits = [&](std::uint32_t node) { return place[node] == kNone; };
  std::uint32_t node = 0;
  while (!waits(node)) ++node;
  std::vector<std::uint32_t> seen_at(graph.node_count(), kNone), way;
  while (seen_at[node] == kNone) {
    seen_at[node] = static_cast<std::uint32_t>(way.size());
    way.push_back(node);
    for (const Edge* edge : into.of(node)) {
      if (waits(edge->from)) {
        node = edge->from;
        break;
      }
    }
  }
  std::vector<std::uint32_t> cycle(way.begin() + seen_at[node],
                                   way.end());  // each waits for the next
  std::reverse(cycle.begin(), cycle.end());
  std::rotate(cycle.begin(), std::min_element(cycle.begin(), cycle.end()), cycle.end());
  for (std::uint32_t& member : cycle) member = graph.node_command[member];
  return cycle;
}

}  // namespace

DependencyGraph order_topologically(const Recording& recording, const DependencyGraph& forward,
                                    std::span<const Edge> more) {
  const std::uint32_t count = forward.node_count();
  std::vector<DirectedEdge> directed;
  directed.reserve(forward.edges.size() + more.size());
  for (const auto part : {std::span<const Edge>(forward.edges), more}) {
    for (const Edge& edge : part) directed.push_back({edge.from, edge.to});
  }
  const std::vector<std::uint32_t> order = order_forward(count, directed);
  std::vector<std::uint32_t> place(count, kNone);
  for (std::uint32_t i = 0; i < order.size(); ++i) place[order[i]] = i;
  const EdgeLists into(count, forward.edges, more);
  if (order.size() != count) throw_cycle(recording, find_cycle(forward, into, place));

  GraphBuilder builder;
  builder.reserve(count, forward.edges.size() + more.size());
  for (const std::uint32_t node : order) {
    const std::uint32_t command = forward.node_command[node];
    static_cast<void>(forward.is_join[node] != 0 ? builder.begin_join(command)
                                                 : builder.begin_work(command));
    for (const Edge* edge : into.of(node)) builder.add_edge(place[edge->from], edge->cause);
    builder.end_node();
  }
  return builder.finish();
}

void throw_cycle(const Recording& recording, std::span<const std::uint32_t> commands) {
  std::string text =
      concat("commands of \"", recording.label, "\" wait for each other in a circle: ");
  for (std::size_t i = 0; i < std::min(commands.size(), kNamedCommands); ++i) {
    text += concat(describe_command(recording, commands[i]), "; before ");
  }
  if (commands.size() > kNamedCommands)
    text += concat(commands.size() - kNamedCommands, " more commands; before ");
  text += concat("command ", commands[0], " again");
  ErrorDetails details;
  details.code = ErrorCode::CyclicDependency;
  details.stage = Stage::DependencyGraph;
  details.command = commands[0];
  details.label = recording.label_path(recording.commands[commands[0]].label);
  throw Error(details, text);
}

}  // namespace reprise::detail
