// Compares drawings, as text, with tests/golden.
#include <doctest/doctest.h>

#include <cstdio>
#include <sstream>
#include <string>

#include "layout/layout.hpp"
#include "support/golden_text.hpp"
#include "viewer/layout/graph_shapes.hpp"

namespace {

using namespace reprise::viewer;
using namespace reprise::test;

std::string number(float value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", static_cast<double>(value) + 0.0);
  return std::string(text) == "-0.0" ? "0.0" : text;
}
std::string text_of(Point p) { return number(p.x) + "," + number(p.y); }

std::string text_of(const LayoutGraph& graph, const LayoutOptions& options) {
  const Layout layout = lay_out(graph, options);
  const LayoutStatistics& s = layout.statistics;
  std::ostringstream out;
  out << "size " << number(layout.bounds.width()) << " x " << number(layout.bounds.height())
      << "\n";
  out << "crossings " << s.crossings << " components " << s.components << " ranks " << s.ranks
      << " bends " << s.bends << " segments " << s.segments << "\n";
  for (std::uint32_t n = 0; n < graph.node_count(); ++n) {
    out << "node " << n << " rank " << layout.ranks[n] << " place " << layout.order[n] << " at "
        << text_of(layout.centres[n]) << "\n";
  }
  for (std::uint32_t e = 0; e < graph.edge_count(); ++e) {
    out << "edge " << graph.edges[e].from << " -> " << graph.edges[e].to << " :";
    for (const Point p : layout.edge_points(e)) out << " " << text_of(p);
    out << "\n";
  }
  for (std::uint32_t g = 0; g < layout.groups.size(); ++g) {
    const Rect& r = layout.groups[g];
    out << "group " << g << " from " << text_of(Point{r.left, r.top}) << " to "
        << text_of(Point{r.right, r.bottom}) << "\n";
  }
  return out.str();
}

void check_golden(const std::string& name, const LayoutGraph& graph,
                  const LayoutOptions& options = {}) {
  const std::string text = text_of(graph, options);
  CHECK(text == golden_text("golden/" + name, text));
}

LayoutGraph diamond() {
  LayoutGraph graph = graph_of(4);
  graph.edges = {{0, 1}, {0, 2}, {1, 3}, {2, 3}};
  return graph;
}

}  // namespace

TEST_CASE("golden: a diamond") { check_golden("layout_diamond.txt", diamond()); }

TEST_CASE("golden: a diamond to the right") {
  check_golden("layout_diamond_right.txt", diamond(), {.direction = Direction::Right});
}

TEST_CASE("golden: an edge past a chain bends round it") {
  LayoutGraph graph = chain(5);
  graph.edges.push_back({0, 4});
  graph.edges.push_back({1, 3});
  check_golden("layout_skips.txt", graph);
}

TEST_CASE("golden: two layers in nested groups") {
  LayoutGraph graph = graph_of(8);
  graph.edges = {{0, 2}, {1, 2}, {2, 3}, {2, 4}, {3, 5}, {4, 5}, {1, 5}, {5, 6}, {5, 7}};
  graph.group_parent = {kNoGroup, 0, 0};
  graph.node_group = {kNoGroup, kNoGroup, 1, 1, 1, 2, 2, kNoGroup};
  check_golden("layout_groups.txt", graph);
}

TEST_CASE("golden: three connected components") {
  LayoutGraph graph = graph_of(7);
  graph.edges = {{0, 1}, {0, 2}, {3, 5}};
  graph.sizes[4] = {200, 20};
  check_golden("layout_parts.txt", graph);
}
