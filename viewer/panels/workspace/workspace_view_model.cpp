#include "panels/workspace/workspace_view_model.hpp"

#include <limits>
#include <utility>

namespace reprise::viewer {

namespace {

double statistic(const GraphViewModel::Node& node, model::Figure statistic) {
  if (node.count == 0 && statistic != model::Figure::Samples)
    return std::numeric_limits<double>::quiet_NaN();
  switch (statistic) {
    case model::Figure::Median: return node.median;
    case model::Figure::P99: return node.p99;
    case model::Figure::Mean: return node.mean;
    case model::Figure::Min: return node.min;
    case model::Figure::Max: return node.max;
    case model::Figure::Share: return node.share;
    case model::Figure::Slack: return node.slack;
    case model::Figure::Samples: return static_cast<double>(node.count);
    default: return std::numeric_limits<double>::quiet_NaN();
  }
}

constexpr double kThrottleSeconds = 0.2;  // minimum time between updates from a growing document

}  // namespace

void WorkspaceViewModel::update(const std::shared_ptr<const model::Document>& document,
                                const ViewState& view, UpdateRate rate, double now) {
  const bool had_graph = source_ != nullptr && source_->find(view.graph) != nullptr;
  if (rate == UpdateRate::Immediate || !had_graph || now - source_time_ >= kThrottleSeconds) {
    if (source_ != document) source_time_ = now;
    source_ = document;
  }
  const model::GraphEntry* const entry = source_->find(view.graph);
  if (entry == nullptr) {
    shown_graph_.reset();
    shown_replay_.reset();
    shown_matches_.reset();
    shown_figures_.reset();
    graph_request_.reset();
    replay_request_.reset();
    match_request_.reset();
    figures_request_.reset();
    return;
  }
  request_graph(*entry, view);
  request_replay(*entry, view);
  request_figures(*entry, view, rate);
  collect_results(*entry);
  request_matches(*entry, view);
}

void WorkspaceViewModel::request_graph(const model::GraphEntry& entry, const ViewState& view) {
  GraphRequest request{entry.graph, view.range, entry.statistics};
  if (graph_request_ == request) return;
  graph_request_ = request;
  graph_.ask(request, [document = source_, entry, range = view.range] {
    return make_graph_view_model(*document, entry, range);
  });
}

void WorkspaceViewModel::request_replay(const model::GraphEntry& entry, const ViewState& view) {
  // A selected replay with samples does not change any more. The newest replay, or a replay without
  // samples, may change with each document revision.
  const ReplayViewModel* const current = replay();
  const bool is_final = view.replay && current != nullptr && current->block &&
                        current->replay.replay == *view.replay &&
                        current->replay.graph == view.graph.graph &&
                        current->replay.version == view.graph.version && replay_request_ &&
                        replay_request_->graph == entry.graph;
  ReplayRequest request{entry.graph, view.replay, view.replay ? model::ReplayRange{} : view.range,
                        is_final ? replay_request_->revision : source_->revision};
  if (replay_request_ == request) return;
  replay_request_ = request;
  replay_.ask(request, [document = source_, entry, replay = view.replay, range = view.range] {
    return make_replay_view_model(*document, entry, replay, range);
  });
}

void WorkspaceViewModel::parse_search(const std::string& text) {
  if (text == search_) return;
  search_ = text;
  const model::Query query(text);
  search_error_ = query.error();
  if (!search_error_.empty()) return;
  query_ = text;
  compares_statistics_ = query.has_statistics();
}

// Keeps the previous result until the new one is ready.
void WorkspaceViewModel::request_matches(const model::GraphEntry& entry, const ViewState& view) {
  parse_search(view.filter.text);
  MatchRequest request{entry.graph, view.filter, compares_statistics_ ? shown_graph_ : nullptr};
  request.filter.text = query_;
  if (request.filter.is_empty() || (compares_statistics_ && !shown_graph_)) {
    match_request_.reset();
    shown_matches_.reset();
    return;
  }
  if (!(match_request_ == request)) {
    match_request_ = request;
    matches_.ask(request, [request] {
      return Matches{request.graph, model::matching_nodes(
                                        request.filter, *request.graph,
                                        [&](std::uint32_t node, model::Figure figure) {
                                          return statistic(request.statistics->nodes[node], figure);
                                        })};
    });
  }
  shown_matches_ = matches_.value();
  if (shown_matches_ && (shown_matches_->graph != entry.graph ||
                         shown_matches_->nodes.size() != entry.graph->node_count()))
    shown_matches_.reset();
}

void WorkspaceViewModel::request_figures(const model::GraphEntry& entry, const ViewState& view,
                                         UpdateRate rate) {
  // A session that has ended has no present rate.
  const RateOver over =
      rate == UpdateRate::Throttled && !view.has_range() ? RateOver::LastSecond : RateOver::Range;
  FiguresRequest request{entry.graph, view.range, entry.replays.size(), entry.dropped_replays,
                         over};
  if (figures_request_ == request) return;
  figures_request_ = request;
  figures_.ask(request, [entry, range = view.range, over] {
    return make_replay_summary(entry, range, over);
  });
}

// Keeps previous results until new ones are ready, but only for the same graph.
void WorkspaceViewModel::collect_results(const model::GraphEntry& entry) {
  const std::uint32_t count = entry.graph->node_count();
  shown_graph_ = graph_.value();
  if (shown_graph_ &&
      (shown_graph_->key != entry.graph->key() || shown_graph_->nodes.size() != count))
    shown_graph_.reset();
  shown_replay_ = replay_.value();
  if (const ReplayViewModel* const view_model = replay()) {
    const bool is_of_graph = view_model->replay.graph == entry.graph->key().graph &&
                             view_model->replay.version == entry.graph->key().version;
    if (!is_of_graph || view_model->times.nodes.size() != count) shown_replay_.reset();
  }
  shown_figures_ = figures_.value();
}

const std::vector<std::uint8_t>& WorkspaceViewModel::matches() const noexcept {
  static const std::vector<std::uint8_t> kAll;
  return shown_matches_ ? shown_matches_->nodes : kAll;
}

bool WorkspaceViewModel::is_settled() const {
  const auto is_done = [](const auto& async, const auto& request) {
    return !request ||
           (!async.is_busy() && (async.value(*request) != nullptr || !async.error().empty()));
  };
  return is_done(graph_, graph_request_) && is_done(replay_, replay_request_) &&
         is_done(matches_, match_request_) && is_done(figures_, figures_request_);
}

std::string WorkspaceViewModel::error() const {
  for (const std::string& error :
       {graph_request_ ? graph_.error() : "", replay_request_ ? replay_.error() : ""}) {
    if (!error.empty()) return error;
  }
  return {};
}

}  // namespace reprise::viewer
