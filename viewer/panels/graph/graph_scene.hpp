// GraphScene: a graph laid out and ready to be drawn: boxes with their text, links between boxes,
// areas of labels, and what finds them by place. A label that is collapsed is one box (or several,
// where others stand between its nodes). Has no colours and no times, so that it stays as it is
// while those change. Knows ImGui only through TextWidths. Threads: make_graph_scene() any;
// immutable.
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
  std::set<std::string> collapsed;  // paths of labels
  TextWidths text, small;           // of the fonts of names and of what explains them
  float scale = 1;                  // of the display
  friend bool operator==(const GraphSceneKey&, const GraphSceneKey&) = default;
};

// Points of the plane: those of the screen at zoom 1.
struct GraphBox {
  Rect rect;
  std::uint32_t node = trace::kNone;   // kNone: a collapsed label
  std::uint32_t label = trace::kNone;  // that is collapsed here
  std::string name, detail;  // detail: kernel, grid or bytes; the nodes that a label holds
};

struct GraphLink {
  std::uint32_t from = 0, to = 0;  // boxes
  std::uint32_t causes = 0;        // a bit for each trace::EdgeCause of its edges, and kRunsBit
};

struct GraphScene {
  GraphSceneKey key;
  std::vector<GraphBox> boxes;
  std::vector<std::uint32_t> box_of;  // a node each
  std::vector<std::uint32_t> first_member,
      members;  // nodes of box b: members[first_member[b], first_member[b + 1])
  std::vector<GraphLink> links;
  std::vector<std::uint32_t> first_point;  // as Layout's, a link each
  std::vector<Point> points;
  std::vector<std::uint32_t> link_of;            // an edge of the graph each; kNone: inside a box
  std::vector<std::uint32_t> first_edge, edges;  // edges of link l, likewise
  std::vector<GraphArea> areas;                  // outer ones first; group g is label g + 1
  Rect bounds;
  GraphIndex box_index, link_index;
  GraphLod far;
  std::uint32_t causes = 0;  // of all edges, drawn or not
  double layout_ms = 0;      // what it took

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

// Of a link from a node to what it runs, which is no edge, and is shown always.
inline constexpr std::uint32_t kRunsBit = 1u << 31;
[[nodiscard]] constexpr std::uint32_t cause_bit(trace::EdgeCause cause) noexcept {
  return 1u << static_cast<unsigned>(cause);
}
// What a lane or the frame adds, beyond what the commands ask for.
inline constexpr std::uint32_t kAddedCauses =
    cause_bit(trace::EdgeCause::Lane) | cause_bit(trace::EdgeCause::EntryExit);

[[nodiscard]] GraphScene make_graph_scene(const GraphSceneKey& key);
// Kernel, where it is called otherwise than the node; else the grid, the bytes, or the kind.
[[nodiscard]] std::string node_detail(const model::Graph& graph, std::uint32_t node);
[[nodiscard]] std::string label_name(const model::Graph& graph, std::uint32_t label);

}  // namespace reprise::viewer
