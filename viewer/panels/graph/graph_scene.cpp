#include "panels/graph/graph_scene.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <map>
#include <tuple>
#include <utility>

#include "layout/collapse.hpp"
#include "layout/folding.hpp"
#include "layout/repeats.hpp"
#include "panels/widgets/format.hpp"
#include "panels/widgets/widgets.hpp"

namespace reprise::viewer {

namespace {

// Screen points at scale 1.
constexpr float kPadding = 8, kLineGap = 3, kMinWidth = 84, kMaxNameWidth = 260;
constexpr std::uint32_t kTitleLevels = 3;
// Nodes per box of equal nodes if the size of the view is unknown; boxes of which several numbers
// are tried otherwise.
constexpr std::uint32_t kMaxUnfittedRepeats = 256, kMaxFitted = 600;
constexpr double kSameZoom = 0.97;
constexpr const char* kRepeats = " x ";  // between a name and the number of nodes that have it

class SceneBuilder {
 public:
  explicit SceneBuilder(const GraphSceneKey& key)
      : key_(key),
        graph_(*key.graph),
        numbers_width_(key.small.width("888.88 us") + key.small.width("88.8 %") + 12 * key.scale) {
    scene_.key = key;
    scene_.collapsed = key.collapsed ? *key.collapsed : labels_to_collapse(graph_, key.max_boxes);
  }

  GraphScene build() {
    const auto start = std::chrono::steady_clock::now();
    CollapsedGraph collapsed = collapse(layout_graph(), collapse_desc());
    if (collapsed.graph.node_count() > key_.max_boxes)
      collapsed = with_repeats(collapsed, choose_repeats(collapsed), key_.opened);
    Layout layout = lay_out_boxes(collapsed.graph);
    scene_.is_folded = layout.statistics.columns > 1 || layout.statistics.rows > 1;
    const Distances by = distances();
    scene_.areas = graph_areas(
        collapsed.graph, layout,
        {.direction = key_.direction, .side = by.side, .title = by.title, .levels = kTitleLevels});
    add_boxes(collapsed, layout);
    add_links(collapsed, layout);
    scene_.bounds = layout.bounds;
    for (const GraphArea& area : scene_.areas) {
      Rect& b = scene_.bounds;
      b = {std::min(b.left, area.bounds.left), std::min(b.top, area.bounds.top),
           std::max(b.right, area.bounds.right), std::max(b.bottom, area.bounds.bottom)};
    }
    index();
    scene_.layout_ms =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    return std::move(scene_);
  }

 private:
  struct Distances {  // of a label's area from its boxes
    float side = 0, title = 0;
  };
  [[nodiscard]] Distances distances() const {
    return {6 * key_.scale, key_.small.height + 4 * key_.scale};
  }
  [[nodiscard]] Layout lay_out_boxes(const LayoutGraph& graph) const {
    const std::uint32_t levels = max_title_levels(graph);
    const float s = key_.scale;
    const auto [side, title] = distances();
    const bool down = key_.direction == Direction::Down;
    return lay_out(graph, {.direction = key_.direction,
                           .node_gap = 12 * s,
                           .edge_gap = 8 * s,
                           .rank_gap = down ? 26 * s : 44 * s,
                           .group_gap = down ? side : (side + title) / 2,
                           .group_start = down ? title : side,
                           .group_end = side,
                           .max_spread = 1.15f,
                           .component_gap = 28 * s + title * static_cast<float>(levels),
                           .group_padding = side,
                           .aspect = aspect(),
                           .view = key_.view,
                           .column_gap = 64 * s});
  }
  [[nodiscard]] Size box_size(const std::string& name, float numbers_width) const {
    const float s = key_.scale, name_width = std::min(kMaxNameWidth * s, key_.text.width(name));
    return {std::max({kMinWidth * s, name_width, numbers_width}) + 2 * kPadding * s,
            key_.text.height + key_.small.height + (2 * kPadding - 6 + kLineGap) * s};
  }
  // Calls visit(parent, node) for each root node of each body.
  template <class Visit>
  void for_each_run(const Visit& visit) const {
    for (const trace::Body& body : graph_.record().bodies) {
      for (std::uint32_t n = body.first_node; n < body.first_node + body.nodes; ++n) {
        if (graph_.predecessors(n).empty()) visit(body.parent, n);
      }
    }
  }
  [[nodiscard]] LayoutGraph layout_graph() const {
    const trace::GraphVersion& record = graph_.record();
    LayoutGraph result;
    for (std::uint32_t n = 0; n < graph_.node_count(); ++n) {
      result.sizes.push_back(box_size(graph_.node_name(n), numbers_width_));
      result.node_lane.push_back(record.nodes[n].lane);
      result.node_group.push_back(record.nodes[n].label == 0 ? kNoGroup
                                                             : record.nodes[n].label - 1);
    }
    for (const trace::Edge& edge : record.edges) result.edges.push_back({edge.from, edge.to});
    for_each_run([&](std::uint32_t from, std::uint32_t to) { result.edges.push_back({from, to}); });
    for (std::size_t l = 1; l < record.labels.size(); ++l) {
      result.group_parent.push_back(record.labels[l].parent == 0 ? kNoGroup
                                                                 : record.labels[l].parent - 1);
    }
    return result;
  }
  [[nodiscard]] CollapseDesc collapse_desc() const {
    CollapseDesc desc;
    const auto labels = static_cast<std::uint32_t>(graph_.record().labels.size());
    for (std::uint32_t l = 1; l < labels; ++l) {
      desc.collapsed.push_back(!scene_.collapsed.empty() &&
                               scene_.collapsed.count(graph_.label_path(l)) != 0);
      desc.group_sizes.push_back(
          desc.collapsed.back()
              ? box_size(label_name(graph_, l), numbers_width_ + key_.small.width(kSumPrefix))
              : Size{1, 1});
    }
    return desc;
  }
  [[nodiscard]] float aspect() const {
    return key_.view.width > 0 && key_.view.height > 0 ? key_.view.width / key_.view.height : 2.4f;
  }
  // The nodes of the largest box of equal nodes of `outer`, which with_repeats() made of `inner`.
  [[nodiscard]] static std::uint32_t max_repeats(const CollapsedGraph& inner,
                                                 const CollapsedGraph& outer) {
    std::uint32_t most = 0;
    for (std::uint32_t b = 0; b < outer.group_of.size(); ++b) {
      if (outer.group_of[b] != kNoGroup && outer.group_of[b] >= inner.graph.group_parent.size())
        most = std::max(most, outer.member_count[b]);
    }
    return most;
  }
  // The nodes per box of equal nodes with which the graph fills the view: as few as can be read, or
  // as few as show the boxes as large as all equal nodes in one.
  [[nodiscard]] std::uint32_t choose_repeats(const CollapsedGraph& inner) const {
    if (key_.view.width <= 0 || key_.view.height <= 0) return kMaxUnfittedRepeats;
    std::uint32_t chosen = inner.graph.node_count();
    double best = 0;
    for (std::uint32_t most = chosen; most >= 2 * kMinRepeats;) {
      const CollapsedGraph tried = with_repeats(inner, most, {});
      if (tried.graph.node_count() > kMaxFitted) break;
      const Rect bounds = lay_out_boxes(tried.graph).bounds;
      const double zoom =
          std::min({1.0, static_cast<double>(key_.view.width / std::max(bounds.width(), 1.0f)),
                    static_cast<double>(key_.view.height / std::max(bounds.height(), 1.0f))});
      if (zoom < kSameZoom * std::min(best, kReadableZoom)) break;
      chosen = most;
      best = std::max(best, zoom);
      most = std::bit_floor(std::max(max_repeats(inner, tried), 1u) - 1);
    }
    return chosen;
  }
  // `inner` with equal nodes in one box each, at most `most` but for boxes that are `opened`. Their
  // groups follow those of the labels in group_of.
  [[nodiscard]] CollapsedGraph with_repeats(const CollapsedGraph& inner, std::uint32_t most,
                                            const std::set<std::uint32_t>& opened) const {
    const trace::GraphVersion& record = graph_.record();
    std::vector<std::uint8_t> runs_bodies(graph_.node_count(), 0);
    for (const trace::Body& body : record.bodies) runs_bodies[body.parent] = 1;
    std::vector<std::uint32_t> kinds(inner.graph.node_count(), kNoGroup), first(kinds.size(), 0);
    std::map<std::tuple<std::uint32_t, std::uint32_t, trace::NodeKind>, std::uint32_t> known;
    for (std::uint32_t n = graph_.node_count(); n-- > 0;) {
      const std::uint32_t box = inner.node_of[n];
      first[box] = n;
      if (inner.group_of[box] != kNoGroup || runs_bodies[n] != 0) continue;
      const trace::Node& node = record.nodes[n];
      const auto next = static_cast<std::uint32_t>(known.size());
      kinds[box] = known.try_emplace({node.name, node.kernel, node.kind}, next).first->second;
    }
    const std::vector<std::uint32_t> groups = find_repeats(inner.graph, {kinds, most});
    std::vector<std::vector<std::uint32_t>> members;
    for (std::uint32_t b = 0; b < groups.size(); ++b) {
      if (groups[b] == kNoGroup) continue;
      if (groups[b] >= members.size()) members.resize(groups[b] + 1);
      members[groups[b]].push_back(b);
    }
    CollapseDesc desc;
    LayoutGraph graph = inner.graph;
    desc.collapsed.resize(graph.group_parent.size(), false);
    desc.group_sizes.resize(graph.group_parent.size(), {1, 1});
    for (const std::vector<std::uint32_t>& boxes : members) {
      if (opened.count(first[boxes[0]]) != 0) continue;
      const auto group = static_cast<std::uint32_t>(graph.group_parent.size());
      graph.group_parent.push_back(inner.graph.node_group[boxes[0]]);
      for (const std::uint32_t box : boxes) graph.node_group[box] = group;
      desc.collapsed.push_back(true);
      desc.group_sizes.push_back(box_size(repeats_name(first[boxes[0]], boxes.size()),
                                          numbers_width_ + key_.small.width(kSumPrefix)));
    }
    CollapsedGraph outer = collapse(graph, desc);
    outer.graph.group_parent = inner.graph.group_parent;
    for (std::uint32_t b = 0; b < inner.group_of.size(); ++b) {
      if (inner.group_of[b] != kNoGroup) outer.group_of[outer.node_of[b]] = inner.group_of[b];
    }
    std::vector<std::uint32_t> box_of(graph_.node_count());
    outer.member_count.assign(outer.graph.node_count(), 0);
    for (std::uint32_t n = 0; n < box_of.size(); ++n) {
      box_of[n] = outer.node_of[inner.node_of[n]];
      ++outer.member_count[box_of[n]];
    }
    outer.node_of = std::move(box_of);
    return outer;
  }
  [[nodiscard]] std::string repeats_name(std::uint32_t node, std::size_t count) const {
    return graph_.node_name(node) + kRepeats + count_text(count);
  }
  // Nesting depth of the deepest box, at most kTitleLevels.
  [[nodiscard]] static std::uint32_t max_title_levels(const LayoutGraph& graph) {
    std::vector<std::uint32_t> depths(graph.group_parent.size(), 1);
    for (std::size_t g = 0; g < depths.size(); ++g) {
      if (graph.group_parent[g] != kNoGroup) depths[g] = depths[graph.group_parent[g]] + 1;
    }
    std::uint32_t depth = 0;
    for (const std::uint32_t g : graph.node_group)
      depth = std::max(depth, g == kNoGroup ? 0 : depths[g]);
    return std::min(depth, kTitleLevels);
  }

  void add_boxes(const CollapsedGraph& collapsed, const Layout& layout) {
    const std::uint32_t count = collapsed.graph.node_count();
    scene_.box_of = collapsed.node_of;
    scene_.first_member.assign(count + 1, 0);
    for (const std::uint32_t box : collapsed.node_of) ++scene_.first_member[box + 1];
    for (std::uint32_t b = 0; b < count; ++b) scene_.first_member[b + 1] += scene_.first_member[b];
    scene_.members.resize(collapsed.node_of.size());
    std::vector<std::uint32_t> next(scene_.first_member.begin(), scene_.first_member.end() - 1);
    for (std::uint32_t n = 0; n < collapsed.node_of.size(); ++n)
      scene_.members[next[collapsed.node_of[n]]++] = n;
    scene_.boxes.resize(count);
    for (std::uint32_t b = 0; b < count; ++b) {
      GraphBox& box = scene_.boxes[b];
      const Point c = layout.centres[b];
      const Size half{collapsed.graph.sizes[b].width / 2, collapsed.graph.sizes[b].height / 2};
      box.rect = {c.x - half.width, c.y - half.height, c.x + half.width, c.y + half.height};
      if (collapsed.group_of[b] == kNoGroup) {
        box.node = scene_.members[scene_.first_member[b]];
        box.name = graph_.node_name(box.node);
        box.detail = node_detail(graph_, box.node);
        continue;
      }
      scene_.has_groups = true;
      box.detail = count_text(collapsed.member_count[b]) +
                   (collapsed.member_count[b] == 1 ? " node" : " nodes");
      if (collapsed.group_of[b] < collapsed.graph.group_parent.size()) {
        box.label = collapsed.group_of[b] + 1;
        box.name = label_name(graph_, box.label);
      } else {
        box.name = repeats_name(scene_.members[scene_.first_member[b]], collapsed.member_count[b]);
      }
    }
  }

  void add_links(const CollapsedGraph& collapsed, Layout& layout) {
    const auto& record = graph_.record().edges;
    const auto& between = collapsed.graph.edges;  // sorted
    scene_.first_point = std::move(layout.first_point);
    scene_.points = std::move(layout.points);
    for (const LayoutEdge edge : between) scene_.links.push_back({edge.from, edge.to, 0});
    scene_.link_of.assign(record.size(), trace::kNone);
    scene_.first_edge.assign(between.size() + 1, 0);
    const auto link_between = [&](std::uint32_t from, std::uint32_t to) {
      const LayoutEdge sought{collapsed.node_of[from], collapsed.node_of[to]};
      if (sought.from == sought.to) return trace::kNone;
      const auto at =
          std::lower_bound(between.begin(), between.end(), sought, [](LayoutEdge a, LayoutEdge b) {
            return a.from != b.from ? a.from < b.from : a.to < b.to;
          });
      return static_cast<std::uint32_t>(at - between.begin());
    };
    for_each_run([&](std::uint32_t from, std::uint32_t to) {
      if (const std::uint32_t link = link_between(from, to); link != trace::kNone)
        scene_.links[link].causes |= kRunsBit;
    });
    for (std::size_t e = 0; e < record.size(); ++e) {
      scene_.causes |= cause_bit(record[e].cause);
      const std::uint32_t link = link_between(record[e].from, record[e].to);
      if (link == trace::kNone) continue;
      scene_.link_of[e] = link;
      scene_.links[link].causes |= cause_bit(record[e].cause);
      ++scene_.first_edge[link + 1];
    }
    for (std::size_t l = 0; l < between.size(); ++l)
      scene_.first_edge[l + 1] += scene_.first_edge[l];
    scene_.edges.resize(scene_.first_edge.back());
    std::vector<std::uint32_t> next(scene_.first_edge.begin(), scene_.first_edge.end() - 1);
    for (std::uint32_t e = 0; e < record.size(); ++e) {
      if (scene_.link_of[e] != trace::kNone) scene_.edges[next[scene_.link_of[e]]++] = e;
    }
  }

  void index() {
    std::vector<Rect> rects;
    for (const GraphBox& box : scene_.boxes) rects.push_back(box.rect);
    std::vector<GraphLod::End> ends;
    for (std::uint32_t l = 0; l < scene_.links.size(); ++l) {
      const auto points = scene_.points_of(l);
      ends.push_back({points.front(), points.back()});
    }
    scene_.lod = GraphLod(rects, ends);
    scene_.box_index = GraphIndex(std::move(rects));
    rects.clear();
    for (std::uint32_t l = 0; l < scene_.links.size(); ++l) {
      const auto points = scene_.points_of(l);
      Rect r{points[0].x, points[0].y, points[0].x, points[0].y};
      for (const Point p : points)
        r = {std::min(r.left, p.x), std::min(r.top, p.y), std::max(r.right, p.x),
             std::max(r.bottom, p.y)};
      rects.push_back(r);
    }
    scene_.link_index = GraphIndex(std::move(rects));
  }

  const GraphSceneKey& key_;
  const model::Graph& graph_;
  float numbers_width_;
  GraphScene scene_;
};

}  // namespace

std::string label_name(const model::Graph& graph, std::uint32_t label) {
  const trace::GraphVersion& record = graph.record();
  return record.strings[record.labels[label].name];
}

std::string fit_box_name(const GraphBox& box, const TextWidths& font, float width) {
  const std::size_t count =
      box.is_group() && box.label == trace::kNone ? box.name.rfind(kRepeats) : std::string::npos;
  if (count == std::string::npos || font.width(box.name) <= width) return font.fit(box.name, width);
  const std::string number = box.name.substr(count),
                    name = font.fit(box.name.substr(0, count), width - font.width(number));
  return name.empty() ? font.fit(number.substr(1), width) : name + number;
}

std::string node_detail(const model::Graph& graph, std::uint32_t node) {
  const trace::Node& record = graph.record().nodes[node];
  const std::string& kernel = graph.kernel_name(node);
  if (!kernel.empty() && kernel != graph.node_name(node)) return kernel;
  if (record.bytes != 0) return bytes_text(record.bytes);
  if (record.grid[0] != 0) {
    std::string text = count_text(record.grid[0]);
    if (record.grid[1] > 1 || record.grid[2] > 1) text += " x " + count_text(record.grid[1]);
    if (record.grid[2] > 1) text += " x " + count_text(record.grid[2]);
    return text + (record.grid[0] == 1 && text == "1" ? " block" : " blocks");
  }
  return graph.kind_name(node);
}

GraphScene make_graph_scene(const GraphSceneKey& key) { return SceneBuilder(key).build(); }

std::set<std::string> labels_to_collapse(const model::Graph& graph, std::uint32_t max_boxes) {
  std::set<std::string> paths;
  if (graph.node_count() <= max_boxes) return paths;
  const auto& labels = graph.record().labels;
  const auto count = static_cast<std::uint32_t>(labels.size());
  std::vector<std::uint8_t> used(count, 0);
  for (const trace::Node& node : graph.record().nodes) used[node.label] = 1;
  for (std::uint32_t l = count; l-- > 1;) used[labels[l].parent] |= used[l];
  std::vector<std::uint32_t> collapsed;
  const auto add_inner = [&](std::uint32_t label) {
    for (const std::uint32_t inner : graph.child_labels(label)) {
      if (used[inner] != 0) collapsed.push_back(inner);
    }
  };
  add_inner(0);
  std::size_t boxes = graph.label_nodes(0).size() + collapsed.size();
  for (std::size_t i = 0; i < collapsed.size(); ++i) {  // outer labels first
    const std::uint32_t label = collapsed[i];
    const std::size_t before = collapsed.size();
    add_inner(label);
    const std::size_t inner = collapsed.size() - before,
                      open = boxes - 1 + inner + graph.label_nodes(label).size();
    if (inner > 0 && open <= max_boxes) {
      boxes = open;
      continue;
    }
    collapsed.resize(before);
    paths.insert(graph.label_path(label));
  }
  return paths;
}

}  // namespace reprise::viewer
