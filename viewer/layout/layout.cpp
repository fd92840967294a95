#include "layout/layout.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "layout/components.hpp"
#include "layout/coordinates.hpp"
#include "layout/crossings.hpp"
#include "layout/folding.hpp"
#include "layout/groups.hpp"
#include "layout/layered_graph.hpp"
#include "layout/ordering.hpp"
#include "layout/packing.hpp"
#include "layout/ranks.hpp"
#include "layout/routes.hpp"
#include "layout/stacking.hpp"

namespace reprise::viewer {

namespace {

constexpr double kMinColumnRanks = 4;  // before stacking

Point turned(Point p) { return {p.y, p.x}; }
Size turned(Size size) { return {size.height, size.width}; }

// One component with downward edges, in its own coordinates from 0, 0.
struct Drawing {
  std::vector<Point> centres;
  std::vector<std::uint32_t> ranks, order;
  std::vector<std::vector<Point>> routes;
  Size size;
};

void add_statistics(const LayeredGraph& graph, const RankOrder& order,
                    LayoutStatistics& statistics) {
  statistics.crossings += count_crossings(graph, order);
  statistics.ranks = std::max(statistics.ranks, graph.rank_count);
  statistics.bends += graph.item_count() - graph.node_count;
  statistics.segments += static_cast<std::uint32_t>(graph.segments.size());
  for (std::uint32_t e = 0; e + 1 < graph.first_chain.size(); ++e) {
    statistics.edge_ranks += graph.rank[graph.chain(e).back()] - graph.rank[graph.chain(e).front()];
  }
}

// Translates the drawing to start at 0 across, and computes its size.
void normalise(const LayoutGraph& graph, Drawing& drawing, std::vector<double>& across,
               const std::vector<double>& rank_end) {
  double left = std::numeric_limits<double>::max(), right = std::numeric_limits<double>::lowest();
  for (std::uint32_t i = 0; i < across.size(); ++i) {
    const double half = i < graph.node_count() ? static_cast<double>(graph.sizes[i].width) / 2 : 0;
    left = std::min(left, across[i] - half);
    right = std::max(right, across[i] + half);
  }
  for (double& x : across) x -= left;
  drawing.size = {static_cast<float>(right - left), static_cast<float>(rank_end.back())};
}

// The extra space above each rank for groups that start there or ended above.
std::vector<double> group_rooms(const LayeredGraph& graph, const RankOrder& order,
                                const LayoutOptions& options) {
  std::vector<double> rooms(graph.rank_count, 0);
  if (graph.rank_count < 2 || graph.node_group.empty() ||
      (options.group_start <= 0 && options.group_end <= 0))
    return rooms;
  // the last turn in which the group was present
  std::vector<std::uint32_t> seen(graph.groups->count(), 0);
  std::uint32_t turn = 0;
  // The maximum over the nodes of `rank` of the number of groups around the node that are absent
  // from `other`.
  const auto missing = [&](std::uint32_t rank, std::uint32_t other) {
    ++turn;
    const auto each_group = [&](std::uint32_t r, auto visit) {
      for (const std::uint32_t item : order.rank(r)) {
        if (item >= graph.node_count) continue;
        for (std::uint32_t g = graph.node_group[item]; g != kNoGroup; g = graph.groups->parent(g))
          visit(item, g);
      }
    };
    each_group(other, [&](std::uint32_t, std::uint32_t g) { seen[g] = turn; });
    std::uint32_t most = 0, count = 0, last = kNoGroup;
    each_group(rank, [&](std::uint32_t item, std::uint32_t g) {
      count = (item == last ? count : 0) + (seen[g] == turn ? 0 : 1);
      last = item;
      most = std::max(most, count);
    });
    return static_cast<float>(most);
  };
  for (std::uint32_t r = 1; r < graph.rank_count; ++r) {
    rooms[r] = static_cast<double>(options.group_start * missing(r, r - 1) +
                                   options.group_end * missing(r - 1, r));
  }
  return rooms;
}

// The number of groups around the node in the most.
std::uint32_t max_depth(const LayoutGraph& graph, const GroupTree& groups) {
  std::uint32_t most = 0;
  for (const std::uint32_t group : graph.node_group) {
    std::uint32_t depth = 0;
    for (std::uint32_t g = group; g != kNoGroup; g = groups.parent(g)) ++depth;
    most = std::max(most, depth);
  }
  return most;
}

// `graph`: a component whose sizes are rotated so that edges lead down.
Drawing draw(const LayoutGraph& graph, const GroupTree& groups, const LayoutOptions& options,
             LayoutStatistics& statistics) {
  Drawing drawing;
  drawing.ranks = assign_ranks(graph);
  LayeredGraph layered = build_layered_graph(graph, drawing.ranks);
  layered.groups = &groups;
  layered.node_group = graph.node_group;
  const RankOrder order = order_ranks(layered, graph.node_lane);
  add_statistics(layered, order, statistics);

  const std::uint32_t nodes = graph.node_count();
  std::vector<float> width(nodes), height(nodes);
  std::vector<double> rank_start(layered.rank_count), rank_end(layered.rank_count, 0);
  for (std::uint32_t n = 0; n < nodes; ++n) {
    width[n] = graph.sizes[n].width;
    height[n] = graph.sizes[n].height;
    double& tallest = rank_end[drawing.ranks[n]];
    tallest = std::max(tallest, static_cast<double>(height[n]));
  }
  double y = 0;
  const std::vector<double> rooms = group_rooms(layered, order, options);
  for (std::uint32_t r = 0; r < layered.rank_count; ++r) {
    y += rooms[r];
    rank_start[r] = y;
    rank_end[r] += y;
    y = rank_end[r] + static_cast<double>(options.rank_gap);
  }
  std::vector<double> across = place_across(layered, order, width, options);
  normalise(graph, drawing, across, rank_end);

  drawing.centres.resize(nodes);
  drawing.order.resize(nodes);
  for (std::uint32_t r = 0; r < layered.rank_count; ++r) {
    std::uint32_t place = 0;
    for (const std::uint32_t item : order.rank(r)) {
      if (item >= nodes) continue;
      drawing.centres[item] = {static_cast<float>(across[item]),
                               static_cast<float>((rank_start[r] + rank_end[r]) / 2)};
      drawing.order[item] = place++;
    }
  }
  const RouteDesc routes{.graph = &layered,
                         .across = &across,
                         .rank_start = &rank_start,
                         .rank_end = &rank_end,
                         .along = &height};
  drawing.routes.reserve(graph.edges.size());
  for (std::uint32_t e = 0; e < graph.edge_count(); ++e) drawing.routes.push_back(route(routes, e));
  const Size view = options.direction == Direction::Down ? options.view : turned(options.view);
  const double rank_pitch = y / layered.rank_count;
  const StackDesc stacking{.graph = &graph,
                           .layered = &layered,
                           .order = &order,
                           .view = view,
                           .node_gap = options.node_gap,
                           .group_gap = options.group_gap,
                           .row_gap = options.rank_gap / 2};
  statistics.rows = std::max(
      statistics.rows,
      stack_nodes(stacking, {drawing.centres, drawing.routes, rank_start, rank_end, drawing.size}));
  const FoldDesc folding{
      .graph = &graph,
      .ranks = &drawing.ranks,
      .rank_start = &rank_start,
      .rank_end = &rank_end,
      .view = view,
      .min_height = kMinColumnRanks * rank_pitch - static_cast<double>(options.rank_gap),
      .column_gap = options.column_gap,
      .edge_gap = options.edge_gap,
      .head = options.group_start * static_cast<float>(max_depth(graph, groups))};
  statistics.columns =
      std::max(statistics.columns, fold(folding, drawing.centres, drawing.routes, drawing.size));
  return drawing;
}

// Translates the drawing to start at 0, 0.
void finish(const LayoutGraph& graph, const LayoutOptions& options, Layout& layout) {
  layout.groups = group_rectangles(graph, layout.centres, options.group_padding);
  bool is_first = true;
  const auto include = [&](float left, float top, float right, float bottom) {
    Rect& b = layout.bounds;
    b = is_first ? Rect{left, top, right, bottom}
                 : Rect{std::min(b.left, left), std::min(b.top, top), std::max(b.right, right),
                        std::max(b.bottom, bottom)};
    is_first = false;
  };
  for (std::uint32_t n = 0; n < graph.node_count(); ++n) {
    const Point c = layout.centres[n];
    const float x = graph.sizes[n].width / 2, y = graph.sizes[n].height / 2;
    include(c.x - x, c.y - y, c.x + x, c.y + y);
  }
  for (const Point p : layout.points) include(p.x, p.y, p.x, p.y);
  const auto is_empty = [](const Rect& r) {
    return r.left == 0 && r.top == 0 && r.right == 0 && r.bottom == 0;
  };
  for (const Rect& r : layout.groups) {
    if (!is_empty(r)) include(r.left, r.top, r.right, r.bottom);
  }
  const Point origin{layout.bounds.left, layout.bounds.top};
  const auto move = [&](Point& p) { p = {p.x - origin.x, p.y - origin.y}; };
  const auto move_rect = [&](Rect& r) {
    r = {r.left - origin.x, r.top - origin.y, r.right - origin.x, r.bottom - origin.y};
  };
  std::for_each(layout.centres.begin(), layout.centres.end(), move);
  std::for_each(layout.points.begin(), layout.points.end(), move);
  for (Rect& r : layout.groups) {
    if (!is_empty(r)) move_rect(r);
  }
  move_rect(layout.bounds);
}

}  // namespace

Layout lay_out(const LayoutGraph& graph, const LayoutOptions& options) {
  check_layout_graph(graph);
  const bool down = options.direction == Direction::Down;
  std::vector<Component> components = components_of(graph);
  const GroupTree groups(graph.group_parent);
  std::vector<Drawing> drawings;
  std::vector<Size> sizes;
  Layout layout;
  layout.statistics.components = static_cast<std::uint32_t>(components.size());
  for (Component& component : components) {
    if (!down) {
      for (Size& size : component.graph.sizes) std::swap(size.width, size.height);
    }
    drawings.push_back(draw(component.graph, groups, options, layout.statistics));
    const Size size = drawings.back().size;
    sizes.push_back(down ? size : turned(size));
  }
  const std::vector<Point> corners =
      pack(sizes, {.gap = options.component_gap, .aspect = options.aspect});

  layout.centres.resize(graph.node_count());
  layout.ranks.resize(graph.node_count());
  layout.order.resize(graph.node_count());
  std::vector<std::vector<Point>> routes(graph.edge_count());
  for (std::size_t c = 0; c < components.size(); ++c) {
    const auto place = [&](Point p) {
      if (!down) p = turned(p);
      return Point{p.x + corners[c].x, p.y + corners[c].y};
    };
    for (std::uint32_t i = 0; i < components[c].nodes.size(); ++i) {
      const std::uint32_t node = components[c].nodes[i];
      layout.centres[node] = place(drawings[c].centres[i]);
      layout.ranks[node] = drawings[c].ranks[i];
      layout.order[node] = drawings[c].order[i];
    }
    for (std::uint32_t i = 0; i < components[c].edges.size(); ++i) {
      std::transform(drawings[c].routes[i].begin(), drawings[c].routes[i].end(),
                     drawings[c].routes[i].begin(), place);
      routes[components[c].edges[i]] = std::move(drawings[c].routes[i]);
    }
  }
  layout.first_point.push_back(0);
  for (const auto& points : routes) {
    layout.points.insert(layout.points.end(), points.begin(), points.end());
    layout.first_point.push_back(static_cast<std::uint32_t>(layout.points.size()));
  }
  finish(graph, options, layout);
  return layout;
}

}  // namespace reprise::viewer
