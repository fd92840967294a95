#include "panels/graph/graph_areas.hpp"

#include <algorithm>
#include <limits>
#include <span>

#include "layout/components.hpp"

namespace reprise::viewer {

namespace {

struct Span {
  float begin = 0, end = 0;
};

Rect around(const Rect& a, const Rect& b) {
  return {std::min(a.left, b.left), std::min(a.top, b.top), std::max(a.right, b.right),
          std::max(a.bottom, b.bottom)};
}

// A contiguous run of one group's boxes in one rank.
struct Run {
  std::uint32_t group = 0, rank = 0;
  Span across;
  // Nesting depth from this group to the innermost group of the first box, the last box, and the
  // deepest box.
  std::uint32_t first_levels = 1, last_levels = 1, max_levels = 1;
};

// Computes the group areas of one connected component. "Along" is the direction of the edges and
// "across" is perpendicular to it.
class ComponentAreas {
 public:
  ComponentAreas(const LayoutGraph& graph, const Layout& layout, const GraphAreaDesc& desc,
                 std::vector<GraphArea>& areas)
      : graph_(graph), layout_(layout), desc_(desc), areas_(areas) {}

  void add(const std::vector<std::uint32_t>& nodes) {
    sort_into_ranks(nodes);
    std::vector<Run> runs;
    for (std::uint32_t r = 0; r < ranks_.size(); ++r) add_runs(r, runs);
    std::stable_sort(runs.begin(), runs.end(),
                     [](const Run& a, const Run& b) { return a.group < b.group; });
    for (std::size_t i = 0; i < runs.size();) {
      std::size_t end = i;
      while (end < runs.size() && runs[end].group == runs[i].group) ++end;
      add_parts(std::span(runs).subspan(i, end - i));
      i = end;
    }
  }

 private:
  [[nodiscard]] bool is_down() const { return desc_.direction == Direction::Down; }
  [[nodiscard]] Span along(std::uint32_t n) const {
    const float half = (is_down() ? graph_.sizes[n].height : graph_.sizes[n].width) / 2,
                at = is_down() ? layout_.centres[n].y : layout_.centres[n].x;
    return {at - half, at + half};
  }
  [[nodiscard]] Span across(std::uint32_t n) const {
    const float half = (is_down() ? graph_.sizes[n].width : graph_.sizes[n].height) / 2,
                at = is_down() ? layout_.centres[n].x : layout_.centres[n].y;
    return {at - half, at + half};
  }

  void sort_into_ranks(const std::vector<std::uint32_t>& nodes) {
    ranks_.clear();
    for (const std::uint32_t n : nodes) {
      if (layout_.ranks[n] >= ranks_.size()) ranks_.resize(layout_.ranks[n] + 1);
      ranks_[layout_.ranks[n]].push_back(n);
    }
    bands_.assign(ranks_.size(),
                  {std::numeric_limits<float>::max(), std::numeric_limits<float>::lowest()});
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      std::sort(ranks_[r].begin(), ranks_[r].end(), [&](std::uint32_t a, std::uint32_t b) {
        return layout_.order[a] < layout_.order[b];
      });
      for (const std::uint32_t n : ranks_[r]) {
        bands_[r] = {std::min(bands_[r].begin, along(n).begin),
                     std::max(bands_[r].end, along(n).end)};
      }
    }
    columns_.assign(ranks_.size(), 0);
    for (std::size_t r = 1; r < ranks_.size(); ++r)
      columns_[r] = columns_[r - 1] + (bands_[r].begin < bands_[r - 1].end ? 1 : 0);
  }

  [[nodiscard]] std::uint32_t levels(std::size_t outer, std::size_t depth) const {
    return std::min(desc_.levels, static_cast<std::uint32_t>(depth - outer));
  }
  void add_runs(std::uint32_t rank, std::vector<Run>& runs) const {
    std::vector<Run> open;  // outermost group first
    std::vector<std::uint32_t> chain;
    const auto close = [&](std::size_t keep) {
      for (; open.size() > keep; open.pop_back()) runs.push_back(open.back());
    };
    for (const std::uint32_t n : ranks_[rank]) {
      chain.clear();
      for (std::uint32_t g = graph_.node_group.empty() ? kNoGroup : graph_.node_group[n];
           g != kNoGroup; g = graph_.group_parent[g])
        chain.push_back(g);
      std::reverse(chain.begin(), chain.end());
      std::size_t same = 0;
      while (same < open.size() && same < chain.size() && open[same].group == chain[same]) ++same;
      close(same);
      for (std::size_t i = same; i < chain.size(); ++i)
        open.push_back({chain[i], rank, across(n), levels(i, chain.size()), 1, 1});
      for (std::size_t i = 0; i < open.size(); ++i) {
        open[i].across = {std::min(open[i].across.begin, across(n).begin),
                          std::max(open[i].across.end, across(n).end)};
        open[i].last_levels = levels(i, chain.size());
        open[i].max_levels = std::max(open[i].max_levels, open[i].last_levels);
      }
    }
    close(0);
  }

  [[nodiscard]] Rect rect_of(Span across, Span along) const {
    return is_down() ? Rect{across.begin, along.begin, across.end, along.end}
                     : Rect{along.begin, across.begin, along.end, across.end};
  }
  void add_line(GraphArea& area, float from, float to, float along) const {
    if (to <= from) return;
    area.outline.push_back(is_down() ? GraphLine{{from, along}, {to, along}}
                                     : GraphLine{{along, from}, {along, to}});
  }

  // `runs`: all runs of one group, sorted by rank, then by position across.
  void add_parts(std::span<Run> runs) {
    GraphArea& area = areas_[runs.front().group];
    const auto side = [&](std::uint32_t levels) { return desc_.side * static_cast<float>(levels); };
    const auto title = [&](std::uint32_t levels) {
      return desc_.title * static_cast<float>(levels);
    };
    for (Run& run : runs) {
      run.across.begin -= is_down() ? side(run.first_levels) : title(run.first_levels);
      run.across.end += side(run.last_levels);
    }
    // The runs of a rank in the column of `beside`, empty otherwise.
    const auto of_rank = [&](std::uint32_t rank, std::uint32_t beside) {
      if (rank >= ranks_.size() || columns_[rank] != columns_[beside]) return std::span<Run>{};
      const auto [first, last] =
          std::equal_range(runs.begin(), runs.end(), Run{0, rank, {}, 1, 1, 1},
                           [](const Run& a, const Run& b) { return a.rank < b.rank; });
      return std::span<Run>(first, last);
    };
    for (const Run& run : runs) {
      const std::span<Run> before =
                               run.rank > 0 ? of_rank(run.rank - 1, run.rank) : std::span<Run>{},
                           after = of_rank(run.rank + 1, run.rank);
      const Span band = bands_[run.rank];
      const Span along{before.empty()
                           ? band.begin - (is_down() ? title(run.max_levels) : side(run.max_levels))
                           : (bands_[run.rank - 1].end + band.begin) / 2,
                       after.empty() ? band.end + side(run.max_levels)
                                     : (band.end + bands_[run.rank + 1].begin) / 2};
      const Rect part = rect_of(run.across, along);
      area.bounds = area.parts.empty() ? part : around(area.bounds, part);
      area.parts.push_back(part);
      if (area.columns.empty() ||
          (&run != &runs.front() && columns_[run.rank] != columns_[(&run - 1)->rank]))
        area.columns.push_back({part, part});
      area.columns.back().bounds = around(area.columns.back().bounds, part);
      for (const float at : {run.across.begin, run.across.end}) {
        area.outline.push_back(is_down() ? GraphLine{{at, along.begin}, {at, along.end}}
                                         : GraphLine{{along.begin, at}, {along.end, at}});
      }
      add_border(area, run.across, before, along.begin);
      add_border(area, run.across, after, along.end);
    }
  }
  // Outlines the part of a run's border that no run of the adjacent rank touches.
  void add_border(GraphArea& area, Span across, std::span<const Run> joined, float along) const {
    float from = across.begin;
    for (const Run& other : joined) {
      if (other.across.end <= across.begin || other.across.begin >= across.end) continue;
      add_line(area, from, other.across.begin, along);
      from = std::max(from, other.across.end);
    }
    add_line(area, from, across.end, along);
  }

  const LayoutGraph& graph_;
  const Layout& layout_;
  const GraphAreaDesc& desc_;
  std::vector<GraphArea>& areas_;
  std::vector<std::vector<std::uint32_t>> ranks_;
  std::vector<Span> bands_;             // per rank: its extent along the edges
  std::vector<std::uint32_t> columns_;  // per rank: its column in a folded layout
};

}  // namespace

std::vector<GraphArea> graph_areas(const LayoutGraph& graph, const Layout& layout,
                                   const GraphAreaDesc& desc) {
  std::vector<GraphArea> areas(graph.group_parent.size());
  for (std::uint32_t g = 0; g < areas.size(); ++g) {
    areas[g].group = g;
    if (graph.group_parent[g] != kNoGroup) areas[g].depth = areas[graph.group_parent[g]].depth + 1;
  }
  ComponentAreas component(graph, layout, desc, areas);
  for (const Component& part : components_of(graph)) component.add(part.nodes);
  std::erase_if(areas, [](const GraphArea& area) { return area.parts.empty(); });
  std::stable_sort(areas.begin(), areas.end(),
                   [](const GraphArea& a, const GraphArea& b) { return a.depth < b.depth; });
  return areas;
}

}  // namespace reprise::viewer
