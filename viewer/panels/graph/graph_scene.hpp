// GraphScene: a laid out graph, ready to draw: boxes with text, links, label areas and spatial
// indices. A collapsed label is one box (or several, if other nodes lie between its nodes). In a
// graph of too many nodes, equal nodes share a box as well: those of a rank, or that follow each
// other. Contains neither colours nor times, so it stays valid while those change. Depends on ImGui
// only through TextWidths. Threads: make_graph_scene() may run on any thread; a scene is immutable.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
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

// More boxes are too many to see.
inline constexpr std::uint32_t kMaxBoxes = 4000;

struct GraphSceneKey {
  std::shared_ptr<const model::Graph> graph;
  Direction direction = Direction::Down;
  std::optional<std::set<std::string>> collapsed;  // label paths; none: labels_to_collapse()
  TextWidths text, small;                          // of the name and detail fonts
  float scale = 1;                                 // display scale
  Size view = {};                       // that the graph should fill; 0 x 0: it is not folded
  std::uint32_t max_boxes = kMaxBoxes;  // equal nodes share boxes where there would be more
  std::set<std::uint32_t> opened = {};  // first nodes of boxes that are drawn node by node instead
  friend bool operator==(const GraphSceneKey&, const GraphSceneKey&) = default;
};

// Precedes the time of a group: the sum over its nodes.
inline constexpr const char* kSumPrefix = "sum ";

// Coordinates are plane points; at zoom 1 they equal screen points.
struct GraphBox {
  Rect rect;
  std::uint32_t node = trace::kNone;   // kNone for a group: a collapsed label, or equal nodes
  std::uint32_t label = trace::kNone;  // the collapsed label; kNone for others
  std::string name, detail;            // detail: kernel, grid or bytes; for a group the node count
  [[nodiscard]] bool is_group() const noexcept { return node == trace::kNone; }
};

struct GraphLink {
  std::uint32_t from = 0, to = 0;  // box indices
  std::uint32_t causes = 0;        // bit per trace::EdgeCause of its edges; kRunsBit
};

struct GraphScene {
  GraphSceneKey key;
  std::set<std::string> collapsed;  // label paths
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
  bool has_groups = false;   // a box is a group
  bool is_folded = false;    // into columns or stacks
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
// Paths of the labels that contain a node but no label, or of outer ones where these would leave
// more than `max_boxes` boxes. Empty if the graph has no more nodes than that.
[[nodiscard]] std::set<std::string> labels_to_collapse(const model::Graph& graph,
                                                       std::uint32_t max_boxes);
// The kernel name if it differs from the node's name, otherwise bytes, grid or kind.
[[nodiscard]] std::string node_detail(const model::Graph& graph, std::uint32_t node);
// The name of a box in `width`. The number of equal nodes stays whole.
[[nodiscard]] std::string fit_box_name(const GraphBox& box, const TextWidths& font, float width);
[[nodiscard]] std::string label_name(const model::Graph& graph, std::uint32_t label);

}  // namespace reprise::viewer
