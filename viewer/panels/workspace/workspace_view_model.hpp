// WorkspaceViewModel: computes the view models of the shown graph, replay and filter on workers.
// Returns the previous results until new ones are ready. Threads: drawing thread only.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "panels/graph/graph_view_model.hpp"

namespace reprise::viewer {

// How often view models follow a growing document: with every revision, or a few times per second.
enum class UpdateRate : std::uint8_t { Immediate, Throttled };

class WorkspaceViewModel {
 public:
  explicit WorkspaceViewModel(Background& background)
      : graph_(background), replay_(background), matches_(background), figures_(background) {}

  // Requests the view models for `view` and collects finished ones. `now` in seconds.
  void update(const std::shared_ptr<const model::Document>& document, const ViewState& view,
              UpdateRate rate, double now);

  // Results for the last update; null or empty if not ready.
  [[nodiscard]] const GraphViewModel* graph() const noexcept { return shown_graph_.get(); }
  [[nodiscard]] const ReplayViewModel* replay() const noexcept {
    return shown_replay_ && *shown_replay_ ? &**shown_replay_ : nullptr;
  }
  [[nodiscard]] const std::vector<std::uint8_t>& matches() const noexcept;
  // What is wrong with the query of the filter; empty: nothing. Until it is corrected, the last
  // correct one applies.
  [[nodiscard]] const std::string& search_error() const noexcept { return search_error_; }
  [[nodiscard]] const ReplaySummary* figures() const noexcept { return shown_figures_.get(); }
  // True if every request is complete or has failed.
  [[nodiscard]] bool is_settled() const;
  // The error of a failed request; empty if no request failed.
  [[nodiscard]] std::string error() const;

 private:
  using GraphPointer = std::shared_ptr<const model::Graph>;
  struct GraphRequest {
    GraphPointer graph;
    model::ReplayRange range;
    std::shared_ptr<const model::GraphStatistics> statistics;
    friend bool operator==(const GraphRequest&, const GraphRequest&) = default;
  };
  struct ReplayRequest {
    GraphPointer graph;
    std::optional<std::uint64_t> replay;
    model::ReplayRange range;    // of the newest replay, if `replay` is empty
    std::uint64_t revision = 0;  // of the document, if later records may change the replay
    friend bool operator==(const ReplayRequest&, const ReplayRequest&) = default;
  };
  struct MatchRequest {
    GraphPointer graph;
    model::Filter filter;
    std::shared_ptr<const GraphViewModel> statistics;  // null: the query compares none
    friend bool operator==(const MatchRequest&, const MatchRequest&) = default;
  };
  struct Matches {
    GraphPointer graph;
    std::vector<std::uint8_t> nodes;
  };
  struct FiguresRequest {
    GraphPointer graph;
    model::ReplayRange range;
    std::size_t replays = 0;
    std::uint64_t forgotten = 0;
    RateOver rate = RateOver::Range;
    friend bool operator==(const FiguresRequest&, const FiguresRequest&) = default;
  };

  void request_graph(const model::GraphEntry& entry, const ViewState& view);
  void request_replay(const model::GraphEntry& entry, const ViewState& view);
  void parse_search(const std::string& text);
  void request_matches(const model::GraphEntry& entry, const ViewState& view);
  void request_figures(const model::GraphEntry& entry, const ViewState& view, UpdateRate rate);
  void collect_results(const model::GraphEntry& entry);

  AsyncValue<GraphRequest, GraphViewModel> graph_;
  AsyncValue<ReplayRequest, std::optional<ReplayViewModel>> replay_;
  AsyncValue<MatchRequest, Matches> matches_;
  AsyncValue<FiguresRequest, ReplaySummary> figures_;
  std::optional<GraphRequest> graph_request_;
  std::optional<ReplayRequest> replay_request_;
  std::optional<MatchRequest> match_request_;
  std::optional<FiguresRequest> figures_request_;

  std::string search_, search_error_;  // the text of the filter, and what is wrong with it
  std::string query_;                  // the last correct search
  bool compares_statistics_ = false;   // query_ does

  std::shared_ptr<const model::Document> source_;  // the document of the view models
  double source_time_ = 0;                         // time of the last change of source_, seconds
  std::shared_ptr<const GraphViewModel> shown_graph_;
  std::shared_ptr<const std::optional<ReplayViewModel>> shown_replay_;
  std::shared_ptr<const Matches> shown_matches_;
  std::shared_ptr<const ReplaySummary> shown_figures_;
};

}  // namespace reprise::viewer
