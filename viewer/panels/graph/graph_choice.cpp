#include "panels/graph/graph_choice.hpp"

#include <map>
#include <tuple>
#include <type_traits>
#include <variant>

namespace reprise::viewer {

namespace {

std::optional<model::GraphKey> most_replayed(const model::Document& document) {
  std::optional<model::GraphKey> best;
  std::tuple<std::size_t, std::uint32_t> best_rank;
  for (const auto& [key, entry] : document.graphs) {
    const std::tuple<std::size_t, std::uint32_t> rank{entry.replays.size(),
                                                      entry.graph->node_count()};
    if (best && rank <= best_rank) continue;
    best = key;
    best_rank = rank;
  }
  return best;
}

template <class T>
bool has(const model::Document& document, const T& selected) {
  const model::GraphEntry* const entry = document.find(selected.graph);
  if (entry == nullptr) return false;
  const trace::GraphVersion& record = entry->graph->record();
  if constexpr (std::is_same_v<T, model::SelectedNode>) return selected.node < record.nodes.size();
  if constexpr (std::is_same_v<T, model::SelectedBuffer>)
    return selected.buffer < record.buffers.size();
  if constexpr (std::is_same_v<T, model::SelectedBarrier>)
    return selected.barrier < record.barriers.size();
  if constexpr (std::is_same_v<T, model::SelectedEdge>) return selected.edge < record.edges.size();
  if constexpr (std::is_same_v<T, model::SelectedReplay>)
    return document.find_replay(selected.graph, selected.replay) != nullptr;
}

}  // namespace

std::optional<model::GraphKey> default_graph(const model::Document& document, GraphSource of) {
  if (of == GraphSource::File) return most_replayed(document);
  std::map<std::uint32_t, std::size_t> replays;
  for (const auto& [key, entry] : document.graphs) replays[key.graph] += entry.replays.size();
  std::optional<model::GraphKey> best;
  for (const auto& [key, entry] : document.graphs) {
    if (best && key.graph == best->graph) {
      if (!entry.replays.empty()) best = key;  // versions ascend
    } else if (!best || replays[key.graph] > replays[best->graph]) {
      best = key;
    }
  }
  return best;
}

std::optional<model::SelectedNode> faulting_node(const model::Document& document) {
  for (const trace::Message& message : document.messages) {
    if (message.severity != trace::Severity::Error || message.command == trace::kNone ||
        (message.id != "run.fault" && message.id != "run.hang"))
      continue;
    const model::GraphKey key{message.graph, message.version};
    const model::GraphEntry* const entry = document.find(key);
    if (entry == nullptr) continue;
    const auto& nodes = entry->graph->record().nodes;
    for (std::uint32_t n = 0; n < nodes.size(); ++n) {
      if (nodes[n].command == message.command) return model::SelectedNode{key, n};
    }
  }
  return std::nullopt;
}

model::GraphKey newest_version(const model::Document& document, model::GraphKey key) {
  for (auto at = document.graphs.upper_bound(key);
       at != document.graphs.end() && at->first.graph == key.graph; ++at)
    key = at->first;
  return key;
}

model::ReplayRange drop_oldest_replays(model::ReplayRange range, std::uint64_t replays) {
  const model::ReplayRange all{.durations = range.durations};
  if (range.covers_all_indices()) return range;
  if (replays <= range.first) {
    range.first -= static_cast<std::size_t>(replays);
    return range;
  }
  const std::uint64_t lost = replays - range.first;
  range.first = 0;
  if (range.count == all.count) return all;
  if (lost >= range.count) return all;
  range.count -= static_cast<std::size_t>(lost);
  return range;
}

bool selection_exists(const model::Selection& selection, const model::Document& document) {
  return std::visit(
      [&](const auto& selected) {
        if constexpr (requires { selected.graph; })
          return has(document, selected);
        else
          return true;
      },
      selection);
}

model::Selection map_selection(const model::Selection& selection, const model::Document& document,
                               model::GraphKey to) {
  const model::GraphEntry* const target = document.find(to);
  if (target == nullptr) return {};
  if (std::holds_alternative<model::SelectedSpan>(selection)) return selection;
  if (const auto* node = std::get_if<model::SelectedNode>(&selection)) {
    const model::GraphEntry* const from = document.find(node->graph);
    if (from == nullptr || node->node >= from->graph->node_count() ||
        node->node >= target->graph->node_count())
      return {};
    if (from->graph->node_name(node->node) == target->graph->node_name(node->node))
      return model::SelectedNode{to, node->node};
  }
  if (const auto* buffer = std::get_if<model::SelectedBuffer>(&selection)) {
    const model::GraphEntry* const from = document.find(buffer->graph);
    if (from == nullptr || buffer->buffer >= from->graph->record().buffers.size() ||
        buffer->buffer >= target->graph->record().buffers.size())
      return {};
    if (from->graph->buffer_name(buffer->buffer) == target->graph->buffer_name(buffer->buffer))
      return model::SelectedBuffer{to, buffer->buffer};
  }
  return {};
}

}  // namespace reprise::viewer
