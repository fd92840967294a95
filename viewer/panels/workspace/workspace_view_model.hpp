// WorkspaceFacts: keeps the facts of the shown graph, replay and filter up to date in the
// background, and hands out the last ones meanwhile. Threads: the drawing thread's.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "panels/graph/graph_view_model.hpp"

namespace reprise::viewer {

// How soon new records are taken into the facts: at once, or a few times a second while they keep
// coming.
enum class Pace : std::uint8_t { AtOnce, Steady };

class WorkspaceViewModel {
 public:
  explicit WorkspaceViewModel(Background& background)
      : graph_(background), replay_(background), matches_(background), figures_(background) {}

  // Asks for what this view of the document needs. `now` in seconds.
  void update(const std::shared_ptr<const model::Document>& document, const ViewState& view,
              Pace pace, double now);

  // Of the last update; null or empty while there is none.
  [[nodiscard]] const GraphViewModel* graph() const noexcept { return shown_graph_.get(); }
  [[nodiscard]] const ReplayViewModel* replay() const noexcept {
    return shown_replay_ && *shown_replay_ ? &**shown_replay_ : nullptr;
  }
  [[nodiscard]] const std::vector<std::uint8_t>& matches() const noexcept;
  [[nodiscard]] const ReplayFigures* figures() const noexcept { return shown_figures_.get(); }
  // Everything that was asked for is there, or could not be made.
  [[nodiscard]] bool is_settled() const;
  // Why something could not be made; empty: nothing to say.
  [[nodiscard]] std::string error() const;

 private:
  using GraphPointer = std::shared_ptr<const model::Graph>;
  struct GraphAsk {
    GraphPointer graph;
    std::size_t first = 0, count = 0;
    std::shared_ptr<const model::GraphStatistics> statistics;
    friend bool operator==(const GraphAsk&, const GraphAsk&) = default;
  };
  struct ReplayAsk {
    GraphPointer graph;
    std::optional<std::uint64_t> replay;
    std::uint64_t revision = 0;  // where more records may change it
    friend bool operator==(const ReplayAsk&, const ReplayAsk&) = default;
  };
  struct MatchAsk {
    GraphPointer graph;
    model::Filter filter;
    friend bool operator==(const MatchAsk&, const MatchAsk&) = default;
  };
  struct Matches {
    GraphPointer graph;
    std::vector<std::uint8_t> nodes;
  };
  struct FiguresAsk {
    GraphPointer graph;
    std::size_t first = 0, count = 0, replays = 0;
    std::uint64_t forgotten = 0;
    friend bool operator==(const FiguresAsk&, const FiguresAsk&) = default;
  };

  void ask_graph(const model::GraphEntry& entry, const ViewState& view);
  void ask_replay(const model::GraphEntry& entry, const ViewState& view);
  void ask_matches(const model::GraphEntry& entry, const ViewState& view);
  void ask_figures(const model::GraphEntry& entry, const ViewState& view, Pace pace);
  void take(const model::GraphEntry& entry);

  AsyncValue<GraphAsk, GraphViewModel> graph_;
  AsyncValue<ReplayAsk, std::optional<ReplayViewModel>> replay_;
  AsyncValue<MatchAsk, Matches> matches_;
  AsyncValue<FiguresAsk, ReplayFigures> figures_;
  std::optional<GraphAsk> graph_ask_;
  std::optional<ReplayAsk> replay_ask_;
  std::optional<MatchAsk> match_ask_;
  std::optional<FiguresAsk> figures_ask_;

  std::shared_ptr<const model::Document> paced_;  // whose records the facts are of
  double paced_at_ = 0;
  std::shared_ptr<const GraphViewModel> shown_graph_;
  std::shared_ptr<const std::optional<ReplayViewModel>> shown_replay_;
  std::shared_ptr<const Matches> shown_matches_;
  std::shared_ptr<const ReplayFigures> shown_figures_;
};

}  // namespace reprise::viewer
