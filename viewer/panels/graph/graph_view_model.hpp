// Builds the view models that panels share (see panel_context.hpp) from a document. The functions
// may read samples from disk; call them in the background. Threads: pure functions, except for the
// document's SampleStore, which is thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "panels/shared/panel_context.hpp"

namespace reprise::viewer {

// Statistics over `range`; see model::statistics_of(). Throws TraceError.
[[nodiscard]] GraphViewModel make_graph_view_model(const model::Document& document,
                                                   const model::GraphEntry& entry,
                                                   model::ReplayRange range);

// Details of `replay`, or of the newest replay of `range` with samples if `replay` is empty. Empty
// if the replay does not exist. Throws TraceError.
[[nodiscard]] std::optional<ReplayViewModel> make_replay_view_model(
    const model::Document& document, const model::GraphEntry& entry,
    std::optional<std::uint64_t> replay, const model::ReplayRange& range = {});

// The times of one replay as a GraphViewModel with one sample per measured node; slack and critical
// path are those of the replay.
[[nodiscard]] GraphViewModel view_model_of_replay(const model::Graph& graph,
                                                  const ReplayViewModel& replay);

[[nodiscard]] ReplaySummary make_replay_summary(const model::GraphEntry& entry,
                                                model::ReplayRange range, RateOver rate);

}  // namespace reprise::viewer
