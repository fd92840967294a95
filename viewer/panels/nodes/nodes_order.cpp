#include "panels/nodes/nodes_order.hpp"

#include <algorithm>
#include <numeric>
#include <string>

#include "panels/widgets/row_order.hpp"

namespace reprise::viewer {

namespace {

bool is_descending(NodeSort sort) { return sort.direction != SortDirection::Ascending; }

}  // namespace

std::vector<std::uint32_t> sorted_nodes(const model::Graph& graph, const GraphViewModel* view_model,
                                        NodeSort sort) {
  std::vector<std::uint32_t> nodes(graph.node_count());
  std::iota(nodes.begin(), nodes.end(), 0u);
  std::vector<std::uint8_t> known(nodes.size());
  if (sorts_by_text(sort.column)) {
    std::vector<std::string> texts(nodes.size());
    for (std::uint32_t n = 0; n < nodes.size(); ++n) {
      texts[n] = node_text(graph, view_model, {}, sort.column, n);
      known[n] = texts[n].empty() ? 0 : 1;
    }
    sort_rows(nodes, is_descending(sort),
              [&](std::uint32_t a, std::uint32_t b) { return texts[a] < texts[b]; });
  } else {
    std::vector<double> numbers(nodes.size());
    for (std::uint32_t n = 0; n < nodes.size(); ++n) {
      numbers[n] = node_number(graph, view_model, sort.column, n);
      known[n] = numbers[n] < 0 ? 0 : 1;
    }
    sort_rows(nodes, is_descending(sort),
              [&](std::uint32_t a, std::uint32_t b) { return numbers[a] < numbers[b]; });
  }
  std::stable_partition(nodes.begin(), nodes.end(), [&](std::uint32_t n) { return known[n] != 0; });
  return nodes;
}

GraphViewModelKey graph_view_model_key(const PanelContext& context) {
  GraphViewModelKey key;
  if (context.entry != nullptr) key.graph = context.entry->graph->key();
  if (context.view_model == nullptr) return key;
  key.view_model = context.view_model;
  key.revision = context.view_model->revision;
  key.samples = context.view_model->samples;
  key.range = context.view.range;
  key.min = context.view_model->min;
  key.max = context.view_model->max;
  return key;
}

const std::vector<std::uint32_t>& NodeSorter::rows(const PanelContext& context, NodeSort sort) {
  const Key key{graph_view_model_key(context), sort};
  if (requested_ != key) {
    requested_ = key;
    auto view_model = context.view_model != nullptr
                          ? std::make_shared<const GraphViewModel>(*context.view_model)
                          : nullptr;
    sorted_.ask(key, [graph = context.entry->graph, view_model = std::move(view_model), sort] {
      return Sorted{graph->key(), sorted_nodes(*graph, view_model.get(), sort),
                    view_model ? column_scales(*view_model) : ColumnScales{}};
    });
  }
  auto sorted = sorted_.value();
  if (sorted && sorted->graph != context.entry->graph->key()) sorted = nullptr;
  if (sorted == shown_ && matches_ == context.matches) return rows_;
  shown_ = std::move(sorted);
  matches_ = context.matches;
  rows_.clear();
  ++revision_;
  if (!shown_) return rows_;
  scales_ = shown_->scales;
  for (const std::uint32_t node : shown_->nodes) {
    if (context.passes(node)) rows_.push_back(node);
  }
  return rows_;
}

}  // namespace reprise::viewer
