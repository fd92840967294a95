#include "panels/workspace/workspace_view_model.hpp"

#include <utility>

namespace reprise::viewer {

namespace {

constexpr double kSteadySeconds = 0.2;

}  // namespace

void WorkspaceViewModel::update(const std::shared_ptr<const model::Document>& document,
                                const ViewState& view, Pace pace, double now) {
  const bool had_graph = paced_ != nullptr && paced_->find(view.graph) != nullptr;
  if (pace == Pace::AtOnce || !had_graph || now - paced_at_ >= kSteadySeconds) {
    if (paced_ != document) paced_at_ = now;
    paced_ = document;
  }
  const model::GraphEntry* const entry = paced_->find(view.graph);
  if (entry == nullptr) {
    shown_graph_.reset();
    shown_replay_.reset();
    shown_matches_.reset();
    shown_figures_.reset();
    graph_ask_.reset();
    replay_ask_.reset();
    match_ask_.reset();
    figures_ask_.reset();
    return;
  }
  ask_graph(*entry, view);
  ask_replay(*entry, view);
  ask_matches(*entry, view);
  ask_figures(*entry, view, pace);
  take(*entry);
}

void WorkspaceViewModel::ask_graph(const model::GraphEntry& entry, const ViewState& view) {
  GraphAsk ask{entry.graph, view.range.first, view.range.count, entry.statistics};
  if (graph_ask_ == ask) return;
  graph_ask_ = ask;
  graph_.ask(ask, [document = paced_, entry, range = view.range] {
    return make_graph_view_model(*document, entry, range);
  });
}

void WorkspaceViewModel::ask_replay(const model::GraphEntry& entry, const ViewState& view) {
  // A replay whose samples are there stays as it is; the newest one, or one without samples, may be
  // another with more records.
  const ReplayViewModel* const there = replay();
  const bool is_final =
      view.replay && there != nullptr && there->block && there->replay.replay == *view.replay &&
      there->replay.graph == view.graph.graph && there->replay.version == view.graph.version &&
      replay_ask_ && replay_ask_->graph == entry.graph;
  ReplayAsk ask{entry.graph, view.replay, is_final ? replay_ask_->revision : paced_->revision};
  if (replay_ask_ == ask) return;
  replay_ask_ = ask;
  replay_.ask(ask, [document = paced_, entry, replay = view.replay] {
    return make_replay_view_model(*document, entry, replay);
  });
}

void WorkspaceViewModel::ask_matches(const model::GraphEntry& entry, const ViewState& view) {
  if (view.filter.is_empty()) {
    match_ask_.reset();
    return;
  }
  MatchAsk ask{entry.graph, view.filter};
  if (match_ask_ == ask) return;
  match_ask_ = ask;
  matches_.ask(ask, [graph = entry.graph, filter = view.filter] {
    return Matches{graph, model::matching_nodes(filter, *graph)};
  });
}

void WorkspaceViewModel::ask_figures(const model::GraphEntry& entry, const ViewState& view,
                                     Pace pace) {
  FiguresAsk ask{entry.graph, view.range.first, view.range.count, entry.replays.size(),
                 entry.dropped_replays};
  if (figures_ask_ == ask) return;
  figures_ask_ = ask;
  const RateOver rate =
      pace == Pace::Steady && !view.has_range() ? RateOver::LastSecond : RateOver::Range;
  figures_.ask(
      ask, [entry, range = view.range, rate] { return make_replay_figures(entry, range, rate); });
}

// Older ones are shown until newer ones are there, as long as they are of this graph.
void WorkspaceViewModel::take(const model::GraphEntry& entry) {
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
  shown_matches_ = match_ask_ ? matches_.value() : nullptr;
  if (shown_matches_ &&
      (shown_matches_->graph != entry.graph || shown_matches_->nodes.size() != count))
    shown_matches_.reset();
  shown_figures_ = figures_.value();
}

const std::vector<std::uint8_t>& WorkspaceViewModel::matches() const noexcept {
  static const std::vector<std::uint8_t> kAll;
  return shown_matches_ ? shown_matches_->nodes : kAll;
}

bool WorkspaceViewModel::is_settled() const {
  const auto is_there = [](const auto& latest, const auto& ask) {
    return !ask ||
           (!latest.is_busy() && (latest.value(*ask) != nullptr || !latest.error().empty()));
  };
  return is_there(graph_, graph_ask_) && is_there(replay_, replay_ask_) &&
         is_there(matches_, match_ask_) && is_there(figures_, figures_ask_);
}

std::string WorkspaceViewModel::error() const {
  for (const std::string& error :
       {graph_ask_ ? graph_.error() : "", replay_ask_ ? replay_.error() : ""}) {
    if (!error.empty()) return error;
  }
  return {};
}

}  // namespace reprise::viewer
