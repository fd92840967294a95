#include "layout/layout.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "viewer/layout/graph_shapes.hpp"

namespace {

using namespace reprise::viewer;
using namespace reprise::test;

Rect rect_of(const LayoutGraph& graph, const Layout& layout, std::uint32_t n) {
  const float x = graph.sizes[n].width / 2, y = graph.sizes[n].height / 2;
  const Point c = layout.centres[n];
  return {c.x - x, c.y - y, c.x + x, c.y + y};
}

std::uint32_t overlapping_nodes(const LayoutGraph& graph, const Layout& layout) {
  std::vector<Rect> rects;
  for (std::uint32_t n = 0; n < graph.node_count(); ++n) rects.push_back(rect_of(graph, layout, n));
  std::sort(rects.begin(), rects.end(),
            [](const Rect& a, const Rect& b) { return a.left < b.left; });
  std::uint32_t overlaps = 0;
  for (std::size_t i = 0; i < rects.size(); ++i) {
    for (std::size_t j = i + 1; j < rects.size() && rects[j].left < rects[i].right; ++j) {
      if (rects[i].top < rects[j].bottom && rects[j].top < rects[i].bottom) ++overlaps;
    }
  }
  return overlaps;
}

std::uint32_t broken_edges(const LayoutGraph& graph, const Layout& layout) {
  std::uint32_t broken = 0;
  for (std::uint32_t e = 0; e < graph.edge_count(); ++e) {
    const auto [from, to] = graph.edges[e];
    const auto points = layout.edge_points(e);
    bool good = layout.ranks[from] < layout.ranks[to] && points.size() >= 2;
    for (std::size_t i = 1; good && i < points.size(); ++i) good = points[i - 1].y < points[i].y;
    const float tolerance = 0.01f + 1e-5f * std::max(layout.bounds.width(), layout.bounds.height());
    const auto near = [&](float a, float b) { return std::abs(a - b) <= tolerance; };
    if (good) {
      good = near(points.front().x, layout.centres[from].x) &&
             near(points.front().y, rect_of(graph, layout, from).bottom) &&
             near(points.back().x, layout.centres[to].x) &&
             near(points.back().y, rect_of(graph, layout, to).top);
    }
    broken += good ? 0 : 1;
  }
  return broken;
}

// The nodes that a polyline crosses, except its two ends.
std::uint32_t nodes_hit(const LayoutGraph& graph, const Layout& layout) {
  std::uint32_t hits = 0;
  for (std::uint32_t e = 0; e < graph.edge_count(); ++e) {
    const auto points = layout.edge_points(e);
    for (std::uint32_t n = 0; n < graph.node_count(); ++n) {
      if (n == graph.edges[e].from || n == graph.edges[e].to) continue;
      const Rect r = rect_of(graph, layout, n);
      for (std::size_t i = 1; i < points.size(); ++i) {
        const Point a = points[i - 1], b = points[i];
        const float top = std::max(a.y, r.top), bottom = std::min(b.y, r.bottom);
        if (top >= bottom) continue;
        const float x0 = a.x + (b.x - a.x) * (top - a.y) / (b.y - a.y),
                    x1 = a.x + (b.x - a.x) * (bottom - a.y) / (b.y - a.y);
        if (std::max(x0, x1) > r.left && std::min(x0, x1) < r.right) ++hits;
      }
    }
  }
  return hits;
}

bool inside(const Rect& inner, const Rect& outer) {
  const float e = 1e-3f + 1e-6f * (std::abs(outer.right) + std::abs(outer.bottom));
  return inner.left >= outer.left - e && inner.top >= outer.top - e &&
         inner.right <= outer.right + e && inner.bottom <= outer.bottom + e;
}

void check_drawing(const LayoutGraph& graph, const Layout& layout) {
  CHECK(overlapping_nodes(graph, layout) == 0);
  CHECK(broken_edges(graph, layout) == 0);
  CHECK(layout.groups.size() == graph.group_parent.size());
  std::uint32_t outside = 0;
  for (std::uint32_t n = 0; n < graph.node_count(); ++n) {
    outside += inside(rect_of(graph, layout, n), layout.bounds) ? 0 : 1;
    if (!graph.node_group.empty() && graph.node_group[n] != kNoGroup) {
      outside += inside(rect_of(graph, layout, n), layout.groups[graph.node_group[n]]) ? 0 : 1;
    }
  }
  for (const Point p : layout.points)
    outside += inside({p.x, p.y, p.x, p.y}, layout.bounds) ? 0 : 1;
  CHECK(outside == 0);
}

}  // namespace

TEST_CASE("layout: an empty graph is an empty drawing") {
  const Layout layout = lay_out({}, {});
  CHECK(layout.centres.empty());
  CHECK(layout.first_point == std::vector<std::uint32_t>{0});
  CHECK(layout.bounds.width() == 0);
  CHECK(layout.statistics.components == 0);
}

TEST_CASE("layout: a single node fills the bounds") {
  const Layout layout = lay_out(graph_of(1), {});
  CHECK(layout.bounds.width() == 80);
  CHECK(layout.bounds.height() == 30);
  CHECK(layout.centres[0].x == 40);
  CHECK(layout.centres[0].y == 15);
}

TEST_CASE("layout: a chain is one straight line") {
  const Layout layout = lay_out(chain(20), {.rank_gap = 10});
  for (std::uint32_t n = 0; n < 20; ++n) CHECK(layout.centres[n].x == 40);
  for (std::uint32_t e = 0; e < 19; ++e) CHECK(layout.edge_points(e).size() == 2);
  CHECK(layout.bounds.height() == 20 * 30 + 19 * 10);
}

TEST_CASE("layout: a chain that is taller than the view is folded into columns that fill it") {
  for (const Direction direction : {Direction::Down, Direction::Right}) {
    LayoutGraph graph = chain(60);
    graph.edges.push_back({3, 57});  // passes several columns
    const LayoutOptions tall{.direction = direction};
    LayoutOptions options = tall;
    options.view = direction == Direction::Down ? Size{1200, 500} : Size{500, 1200};
    const Layout stripe = lay_out(graph, tall), layout = lay_out(graph, options);
    const auto zoom = [&](const Layout& l) {
      return std::min(options.view.width / l.bounds.width(),
                      options.view.height / l.bounds.height());
    };
    CHECK(stripe.statistics.columns == 1);
    CHECK(layout.statistics.columns > 2);
    CHECK(zoom(layout) > 3 * zoom(stripe));
    CHECK(overlapping_nodes(graph, layout) == 0);
    std::uint32_t breaks = 0, hits = 0;
    for (std::uint32_t e = 0; e < graph.edge_count(); ++e) {
      const auto [from, to] = graph.edges[e];
      const auto along = [&](std::uint32_t n) {
        return direction == Direction::Down ? layout.centres[n].y : layout.centres[n].x;
      };
      breaks += along(to) < along(from) && to == from + 1 ? 1 : 0;
      const auto points = layout.edge_points(e);
      for (std::size_t i = 1; i < points.size(); ++i) {
        for (float part = 0; part <= 1; part += 0.02f) {
          const float x = points[i - 1].x + part * (points[i].x - points[i - 1].x),
                      y = points[i - 1].y + part * (points[i].y - points[i - 1].y);
          for (std::uint32_t n = 0; n < graph.node_count(); ++n) {
            const Rect r = rect_of(graph, layout, n);
            if (n != from && n != to && x > r.left && x < r.right && y > r.top && y < r.bottom)
              ++hits;
          }
        }
      }
    }
    CHECK(breaks + 1 == layout.statistics.columns);
    CHECK(hits == 0);
  }
}

TEST_CASE("layout: a chain that can be read and layers with very many edges are not folded") {
  CHECK(lay_out(chain(4), {.view = {1200, 500}}).statistics.columns == 1);
  const Layout half = lay_out(chain(10), {.view = {1200, 500}});  // shown at more than half size
  CHECK(half.bounds.height() > 500);
  CHECK(half.statistics.columns == 1);
  const LayoutGraph layers = random_layers({.layers = 60, .width = 30, .edges_each = 3, .seed = 1});
  const Layout layout = lay_out(layers, {.view = {1200, 500}});
  CHECK(layout.statistics.columns == 1);
  check_drawing(layers, layout);
}

TEST_CASE("layout: columns of a low view have several nodes, so that few edges are long") {
  for (const Direction direction : {Direction::Down, Direction::Right}) {
    LayoutOptions options{.direction = direction};
    options.view = direction == Direction::Down ? Size{1000, 120} : Size{120, 1000};
    CHECK(lay_out(chain(6), options).statistics.columns == 1);
    const std::uint32_t columns = lay_out(chain(16), options).statistics.columns;
    CHECK(columns > 1);
    CHECK(columns <= 4);
  }
}

TEST_CASE("layout: the last column of a folded chain is not much lower than the others") {
  for (std::uint32_t nodes = 12; nodes < 70; ++nodes) {
    CAPTURE(nodes);
    const Layout layout = lay_out(chain(nodes), {.view = {860, 410}});
    std::map<float, std::uint32_t> columns;  // nodes by x
    for (const Point centre : layout.centres) ++columns[centre.x];
    CHECK(columns.size() == layout.statistics.columns);
    CHECK(2 * columns.rbegin()->second >= columns.begin()->second);
  }
}

TEST_CASE("layout: deep layers are folded if they are then shown at least twice as large") {
  const LayoutGraph layers = random_layers({.layers = 300, .width = 6, .edges_each = 2, .seed = 1});
  LayoutOptions options;
  const Layout stripe = lay_out(layers, options);
  options.view = {1200, 500};
  const Layout layout = lay_out(layers, options);
  CHECK(layout.statistics.columns > 2);
  CHECK(options.view.height / layout.bounds.height() >
        2 * options.view.height / stripe.bounds.height());
  CHECK(options.view.width / layout.bounds.width() >
        2 * options.view.height / stripe.bounds.height());
  CHECK(overlapping_nodes(layers, layout) == 0);
}

TEST_CASE("layout: very deep layers with many edges between columns have the shape of the view") {
  const LayoutGraph layers =
      random_layers({.layers = 400, .width = 24, .edges_each = 2, .seed = 1});
  for (const Size view : {Size{1200, 600}, Size{600, 1200}}) {
    const Layout layout = lay_out(layers, {.view = view});
    CHECK(layout.statistics.columns > 1);
    const float aspect = layout.bounds.width() / layout.bounds.height(),
                wanted = view.width / view.height;
    CHECK(aspect > wanted / 2);
    CHECK(aspect < wanted * 2);
    CHECK(overlapping_nodes(layers, layout) == 0);
  }
}

TEST_CASE("layout: a rank of very many nodes is stacked in rows, and its edges touch no node") {
  LayoutGraph star = graph_of(402);
  for (std::uint32_t n = 1; n < 401; ++n) {
    star.edges.push_back({0, n});
    star.edges.push_back({n, 401});
  }
  const Layout line = lay_out(star, {}), layout = lay_out(star, {.view = {1200, 600}});
  CHECK(line.statistics.rows == 1);
  CHECK(layout.statistics.rows > 8);
  check_drawing(star, layout);
  CHECK(nodes_hit(star, layout) == 0);
  CHECK(layout.bounds.width() * 6 < line.bounds.width());
  CHECK(layout.bounds.height() < layout.bounds.width());
  CHECK(lay_out(random_layers({.layers = 6, .width = 12, .edges_each = 2, .seed = 1}),
                {.view = {1200, 600}})
            .statistics.rows == 1);
}

TEST_CASE("layout: a wide tree with a deep trunk is stacked and folded") {
  LayoutGraph tree = random_tree(1'500, 3);
  for (std::uint32_t n = 0; n < 300; ++n) {
    tree.sizes.push_back({80, 30});
    tree.edges.push_back({n == 0 ? 0 : tree.node_count() - 2, tree.node_count() - 1});
  }
  const Layout layout = lay_out(tree, {.view = {1200, 600}});
  CHECK(layout.statistics.rows > 1);
  CHECK(layout.statistics.columns > 1);
  CHECK(overlapping_nodes(tree, layout) == 0);
  std::uint32_t outside = 0;
  for (const Point p : layout.points)
    outside += inside({p.x, p.y, p.x, p.y}, layout.bounds) ? 0 : 1;
  CHECK(outside == 0);
}

TEST_CASE("layout: direction Right is Down with the axes exchanged") {
  LayoutGraph graph = random_dag({.nodes = 30, .edges = 40, .reach = 8, .seed = 5});
  LayoutGraph turned = graph;
  for (Size& size : turned.sizes) std::swap(size.width, size.height);
  const Layout right =
      lay_out(graph, {.direction = Direction::Right, .component_gap = 0, .aspect = 1e6f});
  for (const LayoutEdge edge : graph.edges)
    CHECK(right.centres[edge.from].x < right.centres[edge.to].x);
  CHECK(overlapping_nodes(graph, right) == 0);
  const Layout one_right = lay_out(chain(5), {.direction = Direction::Right});
  CHECK(one_right.bounds.height() == 30);
  CHECK(right.ranks == lay_out(turned, {}).ranks);
}

TEST_CASE("layout: random graphs satisfy all invariants") {
  for (std::uint32_t seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed);
    const std::uint32_t nodes = 1 + seed * 7 % 120;
    const LayoutGraph graph = random_dag(
        {.nodes = nodes, .edges = nodes * (seed % 4), .reach = 2 + seed * 3, .seed = seed});
    const Layout layout = lay_out(graph, {});
    check_drawing(graph, layout);
    CHECK(nodes_hit(graph, layout) == 0);
  }
}

TEST_CASE(
    "layout: edges across hundreds of ranks are straight between their ends and avoid nodes") {
  for (const std::uint32_t seed : {1u, 2u, 3u}) {
    CAPTURE(seed);
    const LayoutGraph graph = nested_chain(600, 500, seed);
    const Layout layout = lay_out(graph, {});
    check_drawing(graph, layout);
    CHECK(nodes_hit(graph, layout) == 0);
    CHECK(layout.statistics.segments > 100);
    CHECK(layout.statistics.crossings == 0);
    for (std::uint32_t e = 0; e < graph.edge_count(); ++e) {
      if (graph.edges[e].to - graph.edges[e].from > 300) CHECK(layout.edge_points(e).size() <= 8);
    }
  }
}

TEST_CASE("layout: long edges in a dense random graph avoid nodes") {
  for (const std::uint32_t seed : {7u, 8u}) {
    CAPTURE(seed);
    LayoutGraph graph = random_dag({.nodes = 400, .edges = 900, .seed = seed});
    for (std::uint32_t n = 1; n < 400; ++n) {
      if (n % 4 != 0) graph.edges.push_back({n - 1, n});
    }
    for (std::uint32_t n = 4; n < 400; n += 4) graph.edges.push_back({n - 4, n});
    const Layout layout = lay_out(graph, {});
    CHECK(layout.statistics.segments > 0);
    check_drawing(graph, layout);
    CHECK(nodes_hit(graph, layout) == 0);
  }
}

TEST_CASE("layout: layers with many edges stay about as wide as their nodes") {
  for (const std::uint32_t seed : {1u, 2u}) {
    CAPTURE(seed);
    const LayoutGraph graph =
        random_layers({.layers = 30, .width = 20, .edges_each = 3, .seed = seed});
    const Layout layout = lay_out(graph, {});
    check_drawing(graph, layout);
    CHECK(nodes_hit(graph, layout) == 0);
    CHECK(layout.bounds.width() < 3.5f * 20 * (80 + 24));
  }
}

TEST_CASE("layout: equal input yields equal bytes") {
  const LayoutGraph graph = random_dag({.nodes = 300, .edges = 600, .seed = 11});
  const Layout a = lay_out(graph, {}), b = lay_out(graph, {});
  REQUIRE(a.points.size() == b.points.size());
  CHECK(std::memcmp(a.centres.data(), b.centres.data(), a.centres.size() * sizeof(Point)) == 0);
  CHECK(std::memcmp(a.points.data(), b.points.data(), a.points.size() * sizeof(Point)) == 0);
  CHECK(a.order == b.order);
}

TEST_CASE("layout: a tree has no crossings") {
  for (std::uint32_t seed = 1; seed <= 10; ++seed) {
    CAPTURE(seed);
    const LayoutGraph graph = random_tree(200, seed);
    const Layout layout = lay_out(graph, {});
    check_drawing(graph, layout);
    CHECK(layout.statistics.crossings == 0);
  }
}

TEST_CASE("layout: nodes without edges form a block, not a row") {
  const Layout layout = lay_out(graph_of(400), {.aspect = 1});
  CHECK(layout.statistics.components == 400);
  CHECK(overlapping_nodes(graph_of(400), layout) == 0);
  CHECK(layout.bounds.width() < 3 * layout.bounds.height());
}

TEST_CASE("layout: a wide rank is one row") {
  LayoutGraph graph = graph_of(2001);
  for (std::uint32_t n = 1; n <= 2000; ++n) graph.edges.push_back({0, n});
  const Layout layout = lay_out(graph, {});
  check_drawing(graph, layout);
  CHECK(layout.statistics.ranks == 2);
  CHECK(layout.bounds.height() == 100);
  CHECK(layout.centres[0].x == doctest::Approx(layout.bounds.width() / 2).epsilon(0.001));
}

TEST_CASE("layout: order is the index in each rank, from left to right") {
  LayoutGraph graph = random_dag({.nodes = 80, .edges = 300, .seed = 3});
  for (std::uint32_t n = 1; n < 80; ++n) graph.edges.push_back({0, n});
  const Layout layout = lay_out(graph, {});
  REQUIRE(layout.statistics.components == 1);
  for (std::uint32_t a = 0; a < 80; ++a) {
    for (std::uint32_t b = 0; b < 80; ++b) {
      if (layout.ranks[a] == layout.ranks[b])
        CHECK((layout.order[a] < layout.order[b]) == (layout.centres[a].x < layout.centres[b].x));
    }
  }
}

TEST_CASE("layout: otherwise equal nodes are ordered by lane") {
  LayoutGraph graph = graph_of(6);
  for (std::uint32_t n = 1; n < 5; ++n) graph.edges.push_back({n, 5});
  graph.edges.push_back({0, 5});
  graph.node_lane = {4, 2, 0, 3, 1, 0};
  const Layout layout = lay_out(graph, {});
  CHECK(layout.order == std::vector<std::uint32_t>{4, 2, 0, 3, 1, 0});
}

TEST_CASE("layout: an invalid graph is rejected") {
  LayoutGraph backwards = graph_of(2);
  backwards.edges.push_back({1, 0});
  CHECK_THROWS_AS(static_cast<void>(lay_out(backwards, {})), std::invalid_argument);
  LayoutGraph outside = graph_of(2);
  outside.edges.push_back({0, 2});
  CHECK_THROWS_AS(static_cast<void>(lay_out(outside, {})), std::invalid_argument);
  LayoutGraph sizes = graph_of(2);
  sizes.sizes[1].width = NAN;
  CHECK_THROWS_AS(static_cast<void>(lay_out(sizes, {})), std::invalid_argument);
  LayoutGraph groups = graph_of(2);
  groups.group_parent = {1, kNoGroup};
  CHECK_THROWS_AS(static_cast<void>(lay_out(groups, {})), std::invalid_argument);
  groups.group_parent = {kNoGroup};
  groups.node_group = {0, 1};
  CHECK_THROWS_AS(static_cast<void>(lay_out(groups, {})), std::invalid_argument);
  LayoutGraph lanes = graph_of(2);
  lanes.node_lane = {0};
  CHECK_THROWS_AS(static_cast<void>(lay_out(lanes, {})), std::invalid_argument);
}
