// GraphScene: a laid out graph, ready to draw: boxes with text, links, label areas and spatial
// indices. A collapsed label is one box (or several, if other nodes lie between its nodes).
// Contains neither colours nor times, so it stays valid while those change. Depends on ImGui only
// through TextWidths. Threads: make_graph_scene() may run on any thread; a scene is immutable.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "model/graph.hpp"
#include "panels/graph/graph_areas.hpp"
#include "panels/graph/graph_index.hpp"
#include "panels/graph/graph_lod.hpp"
#include "panels/graph/graph_text.hpp"

namespace reprise::viewer {

struct GraphSceneKey {
  std::shared_ptr<const model::Graph> graph;
  Direction direction = Direction::Down;
  std::set<std::string> collapsed;  // label paths
  TextWidths text, small;           // of the name and detail fonts
  float scale = 1;                  // display scale
  Size view = {};                   // that chains should fill; 0 x 0: they are not folded
  friend bool operator==(const GraphSceneKey&, const GraphSceneKey&) = default;
};

// Precedes the time of a collapsed label: the sum over its nodes.
inline constexpr const char* kSumPrefix = "sum ";

// Coordinates are plane points; at zoom 1 they equal screen points.
struct GraphBox {
  Rect rect;
  std::uint32_t node = trace::kNone;   // kNone for a collapsed label
  std::uint32_t label = trace::kNone;  // the collapsed label; kNone for a node
  std::string name, detail;            // detail: kernel, grid or bytes; for a label the node count
};

struct GraphLink {
  std::uint32_t from = 0, to = 0;  // box indices
  std::uint32_t causes = 0;        // bit per trace::EdgeCause of its edges; kRunsBit
};

struct GraphScene {
  GraphSceneKey key;
  std::vector<GraphBox> boxes;
  std::vector<std::uint32_t> box_of;  // per node
  // Nodes of box b: members[first_member[b], first_member[b + 1]).
  std::vector<std::uint32_t> first_member, members;
  std::vector<GraphLink> links;
  std::vector<std::uint32_t> first_point;  // per link, as in Layout
  std::vector<Point> points;
  std::vector<std::uint32_t> link_of;            // per edge of the graph; kNone: inside a box
  std::vector<std::uint32_t> first_edge, edges;  // edges of link l, indexed like members
  std::vector<GraphArea> areas;                  // outermost first; group g is label g + 1
  Rect bounds;
  GraphIndex box_index, link_index;
  GraphLod lod;
  std::uint32_t causes = 0;  // of all edges, visible or not
  bool is_folded = false;    // a chain is in columns
  double layout_ms = 0;      // layout time

  [[nodiscard]] const model::Graph& graph() const noexcept { return *key.graph; }
  [[nodiscard]] std::span<const std::uint32_t> members_of(std::uint32_t box) const noexcept {
    return std::span(members).subspan(first_member[box], first_member[box + 1] - first_member[box]);
  }
  [[nodiscard]] std::span<const std::uint32_t> edges_of(std::uint32_t link) const noexcept {
    return std::span(edges).subspan(first_edge[link], first_edge[link + 1] - first_edge[link]);
  }
  [[nodiscard]] std::span<const Point> points_of(std::uint32_t link) const noexcept {
    return std::span(points).subspan(first_point[link], first_point[link + 1] - first_point[link]);
  }
};

// Bit of a link from a node to the body it runs. Such a link is not an edge and is always visible.
inline constexpr std::uint32_t kRunsBit = 1u << 31;
[[nodiscard]] constexpr std::uint32_t cause_bit(trace::EdgeCause cause) noexcept {
  return 1u << static_cast<unsigned>(cause);
}
// Causes added by lowering.
inline constexpr std::uint32_t kAddedCauses =
    cause_bit(trace::EdgeCause::Lane) | cause_bit(trace::EdgeCause::EntryExit);

[[nodiscard]] GraphScene make_graph_scene(const GraphSceneKey& key);
// The kernel name if it differs from the node's name, otherwise bytes, grid or kind.
[[nodiscard]] std::string node_detail(const model::Graph& graph, std::uint32_t node);
[[nodiscard]] std::string label_name(const model::Graph& graph, std::uint32_t label);

}  // namespace reprise::viewer
