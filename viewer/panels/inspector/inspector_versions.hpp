// VersionChanges: the node-by-node difference of two graph versions. Performs no drawing. Threads:
// pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/document.hpp"

namespace reprise::viewer {

struct ChangedNode {
  std::uint32_t node = 0, before = 0;  // indices in the later and in the earlier version
  std::vector<std::string> changes;    // "grid 12 x 4, was 8 x 4"
};

struct VersionChanges {
  model::GraphKey before, after;
  std::vector<ChangedNode> changed;  // sorted by node
  // Ascending. `added` are indices in the later version, `removed` in the earlier one.
  std::vector<std::uint32_t> added, removed;
  [[nodiscard]] bool is_empty() const noexcept {
    return changed.empty() && added.empty() && removed.empty();
  }
  [[nodiscard]] const ChangedNode* find(std::uint32_t node) const;
};

// The latest version of the graph before `key` in the document.
[[nodiscard]] std::optional<model::GraphKey> version_before(const model::Document& document,
                                                            model::GraphKey key);
[[nodiscard]] VersionChanges version_changes(const model::Graph& before, const model::Graph& after);
// Grid or block dimensions: "8 x 4"; "none" if empty.
[[nodiscard]] std::string dimensions_text(const std::uint32_t (&size)[3]);

}  // namespace reprise::viewer
