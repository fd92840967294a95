// VersionChanges: what differs between two versions of a graph, node by node. Draws nothing.
// Threads: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/document.hpp"

namespace reprise::viewer {

struct ChangedNode {
  std::uint32_t node = 0, before = 0;
  std::vector<std::string> changes;  // "grid 12 x 4, was 8 x 4"
};

struct VersionChanges {
  model::GraphKey before, after;
  std::vector<ChangedNode> changed;           // by node
  std::vector<std::uint32_t> added, removed;  // of the later and of the earlier version, ascending
  [[nodiscard]] bool is_empty() const noexcept {
    return changed.empty() && added.empty() && removed.empty();
  }
  [[nodiscard]] const ChangedNode* find(std::uint32_t node) const;
};

// The version of the graph that the document has next before this one.
[[nodiscard]] std::optional<model::GraphKey> version_before(const model::Document& document,
                                                            model::GraphKey key);
[[nodiscard]] VersionChanges version_changes(const model::Graph& before, const model::Graph& after);
// Thread blocks or threads: "8 x 4"; "none" where there are none.
[[nodiscard]] std::string dimensions_text(const std::uint32_t (&of)[3]);

}  // namespace reprise::viewer
