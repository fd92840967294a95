#include "layout/stacking.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace reprise::viewer {

namespace {

// Edges of stacks are hard to follow. Nodes drawn smaller than this cannot be read, and stacks must
// show them this many times as large.
constexpr double kUnreadable = 0.1, kStackGain = 2;
constexpr double kSameHeight = 0.5;

class Stacker {
 public:
  Stacker(const StackDesc& desc, const StackedDrawing& drawing) : desc_(desc), drawing_(drawing) {}

  // The maximum nodes per stack that show the drawing largest.
  [[nodiscard]] std::uint32_t choose() {
    std::size_t widest = 1;
    for (std::uint32_t r = 0; r < desc_.layered->rank_count; ++r)
      widest = std::max(widest, desc_.order->rank(r).size());
    place(1);
    std::uint32_t best = 1;
    if (zoom(drawing_.size) >= kUnreadable) return best;
    double max_zoom = kStackGain * zoom(drawing_.size);
    for (std::uint32_t most = 2; most <= widest && max_zoom < 1; most += 1 + most / 4) {
      place(most);
      if (zoom(size_) <= max_zoom) continue;
      max_zoom = zoom(size_);
      best = most;
    }
    return best;
  }

  // Puts at most `most` nodes in a stack.
  void place(std::uint32_t most) {
    scale_ = 1.0 / most;
    stack_of_.resize(drawing_.centres.size());
    row_.resize(drawing_.centres.size());
    stacks_.clear();
    shift_.assign(1, 0);
    tallest_ = 0;
    double right = static_cast<double>(drawing_.size.width) * scale_;
    for (std::uint32_t r = 0; r < desc_.layered->rank_count; ++r) {
      const std::size_t first = stacks_.size();
      for (const std::uint32_t item : desc_.order->rank(r)) {
        if (item < drawing_.centres.size()) add(item, first, most);
      }
      std::uint32_t rows = 1;
      for (std::size_t s = first; s < stacks_.size(); ++s) rows = std::max(rows, stacks_[s].count);
      if (stacks_.size() > first) right = std::max(right, stacks_.back().right);
      shift_.push_back(shift_.back() + (rows - 1.0) * row_height(r));
      tallest_ = std::max(tallest_, rows * row_height(r));
    }
    size_ = {static_cast<float>(right),
             static_cast<float>(static_cast<double>(drawing_.size.height) + shift_.back())};
  }

  std::uint32_t apply() {
    std::vector<Point> moved = drawing_.centres;
    std::uint32_t rows = 1;
    for (std::uint32_t n = 0; n < moved.size(); ++n) {
      const Stack& stack = stacks_[stack_of_[n]];
      const std::uint32_t rank = desc_.layered->rank[n];
      rows = std::max(rows, stack.count);
      moved[n] = {static_cast<float>((stack.left + stack.right) / 2),
                  static_cast<float>(static_cast<double>(moved[n].y) + shift_[rank] +
                                     row_[n] * row_height(rank))};
    }
    for (std::uint32_t e = 0; e < drawing_.routes.size(); ++e)
      drawing_.routes[e] = route(e, drawing_.routes[e], moved);
    drawing_.centres = std::move(moved);
    drawing_.size = size_;
    for (std::size_t r = 0; r < drawing_.rank_start.size(); ++r) {
      drawing_.rank_start[r] += shift_[r];
      drawing_.rank_end[r] += shift_[r + 1];
    }
    return rows;
  }

 private:
  struct Stack {
    double left = 0, right = 0;
    std::uint32_t count = 0, last = 0;  // nodes; the lowest
  };

  // A drawing that is taller than the view is folded afterwards, into columns of whole ranks.
  [[nodiscard]] double zoom(Size size) const {
    const double across = static_cast<double>(desc_.view.width / std::max(size.width, 1.0f)),
                 along = static_cast<double>(desc_.view.height / std::max(size.height, 1.0f)),
                 folded = std::min(std::sqrt(across * along),
                                   static_cast<double>(desc_.view.height) / tallest_);
    return std::min({1.0, across, std::max(along, folded)});
  }
  [[nodiscard]] double row_height(std::uint32_t rank) const {
    return drawing_.rank_end[rank] - drawing_.rank_start[rank] + static_cast<double>(desc_.row_gap);
  }
  // `first`: the first stack of the node's rank.
  void add(std::uint32_t node, std::size_t first, std::uint32_t most) {
    const double width = static_cast<double>(desc_.graph->sizes[node].width),
                 left = static_cast<double>(drawing_.centres[node].x) * scale_ - width / 2;
    double free = std::numeric_limits<double>::lowest();
    if (stacks_.size() > first) {
      Stack& stack = stacks_.back();
      const std::uint32_t borders = desc_.layered->borders(stack.last, node);
      free = stack.right + static_cast<double>(desc_.node_gap) +
             borders * static_cast<double>(desc_.group_gap);
      if (borders == 0 && stack.count < most && left < free) {
        stack.right = std::max(stack.right, stack.left + width);
        row_[node] = stack.count++;
        stack.last = node;
        stack_of_[node] = static_cast<std::uint32_t>(stacks_.size() - 1);
        return;
      }
    }
    const double at = std::max({left, free, 0.0});
    stacks_.push_back({at, at + width, 1, node});
    row_[node] = 0;
    stack_of_[node] = static_cast<std::uint32_t>(stacks_.size() - 1);
  }

  // The edges of nodes within a stack pass on its left.
  [[nodiscard]] float passage(const Stack& stack) const {
    return static_cast<float>(stack.left - static_cast<double>(desc_.node_gap) / 2);
  }
  // `centres`: where the nodes are now.
  [[nodiscard]] std::vector<Point> route(std::uint32_t edge, const std::vector<Point>& before,
                                         const std::vector<Point>& centres) const {
    const auto [from, to] = desc_.graph->edges[edge];
    const std::uint32_t first = desc_.layered->rank[from], last = desc_.layered->rank[to];
    const Stack &above = stacks_[stack_of_[from]], &below = stacks_[stack_of_[to]];
    const double end = drawing_.rank_end[first], start = drawing_.rank_start[last];
    const float turn = desc_.row_gap / 2,
                bottom = centres[from].y + desc_.graph->sizes[from].height / 2,
                top = centres[to].y - desc_.graph->sizes[to].height / 2,
                out = static_cast<float>(end + shift_[first + 1]),
                in = static_cast<float>(start + shift_[last]);
    std::vector<Point> path{{centres[from].x, bottom}};
    if (row_[from] + 1 < above.count) path.push_back({passage(above), bottom + turn});
    if (static_cast<double>(out - path.back().y) > kSameHeight)
      path.push_back({path.size() > 1 ? passage(above) : centres[from].x, out});
    for (const Point p : before) {
      const double y = static_cast<double>(p.y);
      if (y > end + kSameHeight && y < start - kSameHeight)
        path.push_back({static_cast<float>(static_cast<double>(p.x) * scale_),
                        static_cast<float>(y + shift_at(y, first, last))});
    }
    const bool passes = row_[to] > 0;
    if (passes || static_cast<double>(top - in) > kSameHeight)
      path.push_back({passes ? passage(below) : centres[to].x, in});
    if (passes) path.push_back({passage(below), top - turn});
    path.push_back({centres[to].x, top});
    return path;
  }
  // How far a point of an edge moves down; it is at the start or the end of a rank between two.
  [[nodiscard]] double shift_at(double y, std::uint32_t first, std::uint32_t last) const {
    const auto ends = drawing_.rank_end.begin();
    const auto at = std::lower_bound(ends + first, ends + last, y - kSameHeight);
    const auto rank = static_cast<std::size_t>(at - ends);
    return shift_[y < drawing_.rank_start[rank] + kSameHeight ? rank : rank + 1];
  }

  const StackDesc& desc_;
  const StackedDrawing& drawing_;
  double scale_ = 1;  // across
  Size size_;
  double tallest_ = 1;  // rank
  std::vector<Stack> stacks_;
  std::vector<std::uint32_t> stack_of_, row_;  // per node
  std::vector<double> shift_;  // per rank, and behind the last: how far it moves down
};

}  // namespace

std::uint32_t stack_nodes(const StackDesc& desc, const StackedDrawing& drawing) {
  if (desc.view.width <= 0 || desc.view.height <= 0) return 1;
  Stacker stacker(desc, drawing);
  const std::uint32_t most = stacker.choose();
  if (most == 1) return 1;
  stacker.place(most);
  return stacker.apply();
}

}  // namespace reprise::viewer
