#include "schedule/order.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <string>

#include <reprise/error.hpp>

#include "base/text.hpp"
#include "schedule/describe.hpp"
#include "schedule/graph_builder.hpp"

namespace reprise::detail {

namespace {

constexpr std::size_t kNamedCommands = 16;

// Edges by one of their ends.
class EdgeLists {
 public:
  EdgeLists(std::uint32_t nodes, std::span<const Edge> forward, std::span<const Edge> more, std::uint32_t Edge::*end) : first_(nodes + 2, 0) {
    for (const auto part : {forward, more}) {
      for (const Edge& edge : part) ++first_[edge.*end + 2];
    }
    for (std::size_t i = 2; i < first_.size(); ++i) first_[i] += first_[i - 1];
    edges_.resize(forward.size() + more.size());
    for (const auto part : {forward, more}) {
      for (const Edge& edge : part) edges_[first_[edge.*end + 1]++] = &edge;
    }
  }
  [[nodiscard]] std::span<const Edge* const> of(std::uint32_t node) const { return {edges_.data() + first_[node], edges_.data() + first_[node + 1]}; }

 private:
  std::vector<std::size_t> first_;
  std::vector<const Edge*> edges_;
};

// The commands of a cycle among nodes that wait for each other: each of them waits for another.
std::vector<std::uint32_t> find_cycle(const Schedule& graph, const EdgeLists& into, const std::vector<std::uint32_t>& waits_for) {
  std::uint32_t node = 0;
  while (waits_for[node] == 0) ++node;
  std::vector<std::uint32_t> seen_at(graph.node_count(), kNone), way;
  while (seen_at[node] == kNone) {
    seen_at[node] = static_cast<std::uint32_t>(way.size());
    way.push_back(node);
    for (const Edge* edge : into.of(node)) {
      if (waits_for[edge->from] != 0) {
        node = edge->from;
        break;
      }
    }
  }
  std::vector<std::uint32_t> cycle(way.begin() + seen_at[node], way.end());  // each waits for the next
  std::reverse(cycle.begin(), cycle.end());
  std::rotate(cycle.begin(), std::min_element(cycle.begin(), cycle.end()), cycle.end());
  for (std::uint32_t& member : cycle) member = graph.node_command[member];
  return cycle;
}

}  // namespace

Schedule order_topologically(const Recording& recording, const Schedule& forward, std::span<const Edge> more) {
  const std::uint32_t count = forward.node_count();
  const EdgeLists into(count, forward.edges, more, &Edge::to), out_of(count, forward.edges, more, &Edge::from);
  std::vector<std::uint32_t> waits_for(count, 0), place(count, kNone);
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> ready;
  for (std::uint32_t node = 0; node < count; ++node) {
    waits_for[node] = static_cast<std::uint32_t>(into.of(node).size());
    if (waits_for[node] == 0) ready.push(node);
  }
  GraphBuilder builder;
  builder.reserve(count, forward.edges.size() + more.size());
  while (!ready.empty()) {
    const std::uint32_t node = ready.top();
    ready.pop();
    const std::uint32_t command = forward.node_command[node];
    place[node] = forward.is_join[node] != 0 ? builder.begin_join(command) : builder.begin_work(command);
    for (const Edge* edge : into.of(node)) builder.add_edge(place[edge->from], edge->cause);
    builder.end_node();
    for (const Edge* edge : out_of.of(node)) {
      if (--waits_for[edge->to] == 0) ready.push(edge->to);
    }
  }
  if (builder.node_count() != count) throw_cycle(recording, find_cycle(forward, into, waits_for));
  return builder.finish();
}

void throw_cycle(const Recording& recording, std::span<const std::uint32_t> commands) {
  std::string text = concat("commands of \"", recording.label, "\" wait for each other in a circle: ");
  for (std::size_t i = 0; i < std::min(commands.size(), kNamedCommands); ++i) {
    text += concat(describe_command(recording, commands[i]), "; before ");
  }
  if (commands.size() > kNamedCommands) text += concat(commands.size() - kNamedCommands, " more commands; before ");
  text += concat("command ", commands[0], " again");
  ErrorDetails details;
  details.code = ErrorCode::CyclicDependency;
  details.stage = Stage::Schedule;
  details.command = commands[0];
  details.label = recording.label_path(recording.commands[commands[0]].label);
  throw Error(details, text);
}

}  // namespace reprise::detail
