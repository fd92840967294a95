#include "model/late_command.hpp"

#include <algorithm>
#include <functional>
#include <vector>

#include "base/quantile_rank.hpp"

namespace reprise::model {

using trace::Time;

namespace {

// Marks the ancestors of a node.
void mark_ancestors(const Graph& graph, std::uint32_t node, std::vector<std::uint8_t>& marks) {
  std::vector<std::uint32_t> open{node};
  while (!open.empty()) {
    const std::uint32_t at = open.back();
    open.pop_back();
    for (const Neighbour& before : graph.predecessors(at)) {
      if (marks[before.node] != 0) continue;
      marks[before.node] = 1;
      open.push_back(before.node);
    }
  }
}

// Executions of a collective in a body. The first one also waits for the commands before the node
// that runs the body.
enum class Executions : std::uint8_t { First, All };

// The commands that these executions of the collective wait for, without those that an earlier
// collective waits for.
std::vector<std::uint32_t> commands_before(const Graph& graph, std::uint32_t collective,
                                           Executions executions) {
  const auto& collectives = graph.record().collectives;
  const std::uint32_t node = collectives[collective].node;
  std::vector<std::uint8_t> waits_for(graph.node_count()), earlier(graph.node_count());
  mark_ancestors(graph, node, waits_for);
  if (executions == Executions::First) {
    for (std::uint32_t n = graph.parent(node); n != trace::kNone; n = graph.parent(n))
      mark_ancestors(graph, n, waits_for);
  }
  for (const trace::Collective& other : collectives) {
    for (std::uint32_t n = other.node; n != trace::kNone; n = graph.parent(n)) {
      if (waits_for[n] == 0) continue;
      if (earlier[n] == 0) mark_ancestors(graph, n, earlier);
      // A node may run commands after the last collective of its body.
      if (n == other.node) earlier[n] = 1;
    }
  }
  std::vector<std::uint32_t> commands;
  for (std::uint32_t n = 0; n < graph.node_count(); ++n) {
    const trace::NodeKind kind = graph.record().nodes[n].kind;
    if (waits_for[n] != 0 && earlier[n] == 0 && kind != trace::NodeKind::Entry &&
        kind != trace::NodeKind::Join)
      commands.push_back(n);
  }
  return commands;
}

bool have_same_commands(const Graph& a, const Graph& b, const std::vector<std::uint32_t>& nodes) {
  return a.topology() == b.topology() &&
         std::all_of(nodes.begin(), nodes.end(),
                     [&](std::uint32_t n) { return a.node_name(n) == b.node_name(n); });
}

// CommandTimes of a rank by position in the list of commands; negative: unknown.
using CommandTimes = std::vector<Time>;
using CommandTimesOf = std::function<CommandTimes(const GraphEntry& entry,
                                                  const std::vector<std::uint32_t>& commands)>;

LateCommand largest_excess(const Document& document, const CollectiveSummary& collective,
                           std::uint32_t rank, Executions executions,
                           const CommandTimesOf& durations_of) {
  const CollectiveRank& late = collective.ranks[rank];
  const GraphEntry& entry = *document.find(late.graph);
  const std::vector<std::uint32_t> commands =
      commands_before(*entry.graph, late.collective, executions);
  const CommandTimes own = durations_of(entry, commands);
  std::vector<CommandTimes> others;
  for (std::uint32_t r = 0; r < collective.ranks.size(); ++r) {
    const GraphEntry& other = *document.find(collective.ranks[r].graph);
    if (r != rank && have_same_commands(*entry.graph, *other.graph, commands))
      others.push_back(durations_of(other, commands));
  }
  LateCommand found;
  std::vector<Time> values;
  for (std::size_t i = 0; i < commands.size(); ++i) {
    values.clear();
    for (const CommandTimes& other : others) {
      if (other[i] >= 0) values.push_back(other[i]);
    }
    if (own[i] < 0 || values.empty()) continue;
    const Time median = detail::quantile_of(values, 0.5);
    if (own[i] - median > found.excess()) found = {commands[i], own[i], median};
  }
  return found;
}

}  // namespace

LateCommand late_command(const Document& document, const CollectiveSummary& collective,
                         std::uint64_t replay, std::uint32_t occurrence, std::uint32_t rank) {
  const auto durations_of = [&](const GraphEntry& entry, const std::vector<std::uint32_t>& nodes) {
    CommandTimes durations(nodes.size(), -1);
    const trace::Replay* found = document.find_replay(entry.graph->key(), replay);
    const auto block = found == nullptr ? nullptr : document.samples->find(*found);
    if (block == nullptr) return durations;
    for (const trace::Sample& sample : block->samples) {
      const auto at = std::lower_bound(nodes.begin(), nodes.end(), sample.node);
      if (at != nodes.end() && *at == sample.node && sample.occurrence == occurrence &&
          sample.started != 0)
        durations[static_cast<std::size_t>(at - nodes.begin())] = sample.duration;
    }
    return durations;
  };
  return largest_excess(document, collective, rank,
                        occurrence == 0 ? Executions::First : Executions::All, durations_of);
}

LateCommand late_command(const Document& document, const CollectiveSummary& collective,
                         std::uint32_t rank) {
  const auto durations_of = [](const GraphEntry& entry, const std::vector<std::uint32_t>& nodes) {
    CommandTimes durations(nodes.size(), -1);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const auto& times = entry.statistics->nodes[nodes[i]].times;
      if (times.count() != 0) durations[i] = static_cast<Time>(times.quantile(0.5));
    }
    return durations;
  };
  return largest_excess(document, collective, rank, Executions::All, durations_of);
}

}  // namespace reprise::model
