// Selection of the displayed graph, and transfer of view state between versions of a graph.
// Threads: pure functions.
#pragma once

#include <cstdint>
#include <optional>

#include "model/document.hpp"
#include "model/replay_statistics.hpp"
#include "model/selection.hpp"

namespace reprise::viewer {

// The graph to display first. File: the graph with the most replays. Session: the newest replayed
// version of the graph with the most replays. Empty if the document has no graph.
enum class GraphSource : std::uint8_t { File, Session };
[[nodiscard]] std::optional<model::GraphKey> default_graph(const model::Document& document,
                                                           GraphSource of);
// The node that the first message about a fault or a hang of `reprise run` names; empty: there is
// none.
[[nodiscard]] std::optional<model::SelectedNode> faulting_node(const model::Document& document);
// The newest version of the same graph; `key` if no newer version exists.
[[nodiscard]] model::GraphKey newest_version(const model::Document& document, model::GraphKey key);
// `range` after the oldest `replays` were dropped from the front of the list. All replays if none
// of the range remains.
[[nodiscard]] model::ReplayRange drop_oldest_replays(model::ReplayRange range,
                                                     std::uint64_t replays);
// True if the selected object exists in the document.
[[nodiscard]] bool selection_exists(const model::Selection& selection,
                                    const model::Document& document);
// Maps a selection to version `to`: a node or buffer with the same index and name. Empty otherwise.
[[nodiscard]] model::Selection map_selection(const model::Selection& selection,
                                             const model::Document& document, model::GraphKey to);

}  // namespace reprise::viewer
