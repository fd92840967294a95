// The facts that panels share (see frame.hpp), made from a document. They may read the disk, and
// take as long as that does: call them in the background. Threads: pure functions, but for the
// document's SampleStore, which any thread may ask.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "panels/shared/panel_context.hpp"

namespace reprise::viewer {

// Of a range at most so many sampled replays are read, spread evenly.
inline constexpr std::size_t kMostBlocks = 512;

// Over everything: of the statistics that the document has. Over a range: of its samples. Throws
// TraceError.
[[nodiscard]] GraphViewModel make_graph_view_model(const model::Document& document,
                                                   const model::GraphEntry& entry,
                                                   model::ReplayRange range);

// Of that replay; of none: the newest with samples. Empty: there is no such replay. Throws
// TraceError.
[[nodiscard]] std::optional<ReplayViewModel> make_replay_view_model(
    const model::Document& document, const model::GraphEntry& entry,
    std::optional<std::uint64_t> replay);

// What the bar above says of the replays of a range.
struct ReplayFigures {
  model::ReplayStatistics
      device;  // of times on the device; no bins, no outliers' list is meant for the bar
  std::size_t replays = 0, sampled = 0;
  double per_second = 0;  // live: over the last second; of a file: over the range; 0: unknown
};
enum class RateOver : std::uint8_t { Range, LastSecond };
[[nodiscard]] ReplayFigures make_replay_figures(const model::GraphEntry& entry,
                                                model::ReplayRange range, RateOver rate);

}  // namespace reprise::viewer
