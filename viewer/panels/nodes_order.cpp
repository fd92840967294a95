#include "panels/nodes_order.hpp"

#include <algorithm>
#include <numeric>
#include <string>

#include "panels/row_order.hpp"

namespace reprise::viewer {

namespace {

bool is_descending(NodeSort sort) { return sort.direction != SortDirection::Ascending; }

}  // namespace

std::vector<std::uint32_t> sorted_nodes(const model::Graph& graph, const GraphFacts* facts, NodeSort sort) {
  std::vector<std::uint32_t> nodes(graph.node_count());
  std::iota(nodes.begin(), nodes.end(), 0u);
  std::vector<std::uint8_t> known(nodes.size());
  if (sorts_by_text(sort.column)) {
    std::vector<std::string> texts(nodes.size());
    for (std::uint32_t n = 0; n < nodes.size(); ++n) {
      texts[n] = node_text(graph, facts, {}, sort.column, n);
      known[n] = texts[n].empty() ? 0 : 1;
    }
    sort_rows(nodes, is_descending(sort), [&](std::uint32_t a, std::uint32_t b) { return texts[a] < texts[b]; });
  } else {
    std::vector<double> numbers(nodes.size());
    for (std::uint32_t n = 0; n < nodes.size(); ++n) {
      numbers[n] = node_number(graph, facts, sort.column, n);
      known[n] = numbers[n] < 0 ? 0 : 1;
    }
    sort_rows(nodes, is_descending(sort), [&](std::uint32_t a, std::uint32_t b) { return numbers[a] < numbers[b]; });
  }
  std::stable_partition(nodes.begin(), nodes.end(), [&](std::uint32_t n) { return known[n] != 0; });
  return nodes;
}

FactsMark mark_of(const Frame& frame) {
  FactsMark mark;
  if (frame.entry != nullptr) mark.graph = frame.entry->graph->key();
  if (frame.facts == nullptr) return mark;
  mark.facts = frame.facts;
  mark.revision = frame.facts->revision;
  mark.samples = frame.facts->samples;
  mark.first = frame.view.range.first;
  mark.count = frame.view.range.count;
  mark.least = frame.facts->least;
  mark.greatest = frame.facts->greatest;
  return mark;
}

const std::vector<std::uint32_t>& NodeSorter::rows(const Frame& frame, NodeSort sort) {
  const Key key{mark_of(frame), sort};
  if (!has_asked_ || !(asked_ == key)) {
    asked_ = key;
    has_asked_ = true;
    auto facts = frame.facts != nullptr ? std::make_shared<const GraphFacts>(*frame.facts) : nullptr;
    sorted_.ask(key, [graph = frame.entry->graph, facts = std::move(facts), sort] {
      return Sorted{graph->key(), sorted_nodes(*graph, facts.get(), sort), facts ? column_scales(*facts) : ColumnScales{}};
    });
  }
  auto sorted = sorted_.value();
  if (sorted && sorted->graph != frame.entry->graph->key()) sorted = nullptr;
  if (sorted == shown_ && matches_ == frame.matches) return rows_;
  shown_ = std::move(sorted);
  matches_ = frame.matches;
  rows_.clear();
  if (!shown_) return rows_;
  scales_ = shown_->scales;
  for (const std::uint32_t node : shown_->nodes) {
    if (frame.passes(node)) rows_.push_back(node);
  }
  return rows_;
}

}  // namespace reprise::viewer
