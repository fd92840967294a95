// Which graph of a document is looked at first, and when another version takes its place. Threads:
// pure functions.
#pragma once

#include <cstdint>
#include <optional>

#include "model/document.hpp"
#include "model/replay_statistics.hpp"
#include "model/selection.hpp"

namespace reprise::viewer {

// Of a file, what was replayed most. Live, of the graph that is replayed most the newest version
// that was. Empty: there is no graph.
enum class ChoiceOf : std::uint8_t { File, Session };
[[nodiscard]] std::optional<model::GraphKey> first_choice(const model::Document& document,
                                                          ChoiceOf of);
// Of the same graph; `key` itself if there is none newer.
[[nodiscard]] model::GraphKey newest_version(const model::Document& document, model::GraphKey key);
// The same replays, after the list of a long session has forgotten so many at its front. All
// replays, if none of them is left.
[[nodiscard]] model::ReplayRange after_forgetting(model::ReplayRange range, std::uint64_t replays);
// True if what is selected exists.
[[nodiscard]] bool is_there(const model::Selection& selection, const model::Document& document);
// What is selected in one version, in another one: a node or a buffer that has the same place and
// the same name; else nothing.
[[nodiscard]] model::Selection carried_over(const model::Selection& selection,
                                            const model::Document& document, model::GraphKey to);

}  // namespace reprise::viewer
