#include "panels/inspector/inspector_versions.hpp"

#include <algorithm>

#include "model/graph_comparison.hpp"
#include "panels/widgets/format.hpp"

namespace reprise::viewer {

const ChangedNode* VersionChanges::find(std::uint32_t node) const {
  const auto found =
      std::lower_bound(changed.begin(), changed.end(), node,
                       [](const ChangedNode& c, std::uint32_t n) { return c.node < n; });
  return found != changed.end() && found->node == node ? &*found : nullptr;
}

std::optional<model::GraphKey> version_before(const model::Document& document,
                                              model::GraphKey key) {
  const auto at = document.graphs.lower_bound(key);
  if (at == document.graphs.begin()) return std::nullopt;
  const model::GraphKey before = std::prev(at)->first;
  return before.graph == key.graph ? std::optional(before) : std::nullopt;
}

std::string dimensions_text(const std::uint32_t (&size)[3]) {
  if (size[0] == 0) return "none";
  std::string text = count_text(size[0]);
  if (size[1] > 1 || size[2] > 1) text += " x " + count_text(size[1]);
  if (size[2] > 1) text += " x " + count_text(size[2]);
  return text;
}

namespace {

std::string accesses_text(const model::Graph& graph, std::uint32_t node) {
  std::string text;
  for (const trace::NodeAccess& access : graph.accesses(node)) {
    text += (text.empty() ? "" : ", ") + graph.buffer_name(access.buffer) + " [" +
            count_text(access.begin) + ", " + count_text(access.end) + ")";
  }
  return text.empty() ? "none" : text;
}

std::vector<std::string> changes_of(const model::Graph& before, std::uint32_t b,
                                    const model::Graph& after, std::uint32_t a) {
  std::vector<std::string> changes;
  const auto compare = [&](const char* name, const std::string& was, const std::string& is) {
    if (was != is) changes.push_back(std::string(name) + " " + is + ", was " + was);
  };
  const trace::Node &old_node = before.record().nodes[b], &new_node = after.record().nodes[a];
  compare("kernel", before.kernel_name(b), after.kernel_name(a));
  compare("grid", dimensions_text(old_node.grid), dimensions_text(new_node.grid));
  compare("block", dimensions_text(old_node.block), dimensions_text(new_node.block));
  compare("shared memory", bytes_text(old_node.shared_bytes), bytes_text(new_node.shared_bytes));
  compare("bytes", bytes_text(old_node.bytes), bytes_text(new_node.bytes));
  compare("lane", count_text(old_node.lane), count_text(new_node.lane));
  compare("accesses", accesses_text(before, b), accesses_text(after, a));
  return changes;
}

// The indices below `count` for which `has` is 0.
std::vector<std::uint32_t> missing(std::uint32_t count, const std::vector<std::uint8_t>& has) {
  std::vector<std::uint32_t> nodes;
  for (std::uint32_t n = 0; n < count; ++n) {
    if (has[n] == 0) nodes.push_back(n);
  }
  return nodes;
}

}  // namespace

VersionChanges version_changes(const model::Graph& before, const model::Graph& after) {
  VersionChanges result{before.key(), after.key(), {}, {}, {}};
  std::vector<std::uint8_t> has_before(before.node_count()), has_after(after.node_count());
  for (const auto& [b, a] : model::matching_nodes(before, after)) {
    has_before[b] = has_after[a] = 1;
    if (auto changes = changes_of(before, b, after, a); !changes.empty())
      result.changed.push_back({a, b, std::move(changes)});
  }
  std::sort(result.changed.begin(), result.changed.end(),
            [](const ChangedNode& x, const ChangedNode& y) { return x.node < y.node; });
  result.removed = missing(before.node_count(), has_before);
  result.added = missing(after.node_count(), has_after);
  return result;
}

}  // namespace reprise::viewer
