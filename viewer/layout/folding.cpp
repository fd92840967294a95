#include "layout/folding.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace reprise::viewer {

namespace {

constexpr double kMaxColumns = 1024;
// Edges that pass from one column to the next at their full distance; more are drawn as a bundle
// that is at most this fraction of the column wide.
constexpr double kSpread = 32, kBundle = 0.25;

// How many edges may pass from one column to the next if that shows the drawing `min_gain` times as
// large as without columns, and kMinGain times as large as the columns with fewer edges between
// them. Many edges between columns are hard to follow, so they must gain more.
struct Limit {
  std::uint32_t passing = 0;
  double min_gain = 0;
};
constexpr double kMinGain = 1.2;
// A last column with little in it takes up to this part off the zoom at which columns are compared.
constexpr double kEmptyLast = 0.4;
constexpr Limit kLimits[] = {
    {4, kMinGain}, {32, 2}, {std::numeric_limits<std::uint32_t>::max(), 2}};

struct Columns {
  std::vector<std::uint32_t> first{0};  // rank of each column
  std::uint32_t passing = 0;            // most edges from one column to the next
};

class Folder {
 public:
  Folder(const FoldDesc& desc, Size size)
      : desc_(desc), start_(*desc.rank_start), end_(*desc.rank_end), size_(size) {
    passing_.assign(start_.size() + 1, 0);
    for (const LayoutEdge edge : desc.graph->edges) {
      ++passing_[(*desc.ranks)[edge.from] + 1];
      --passing_[(*desc.ranks)[edge.to] + 1];
    }
    for (std::size_t r = 1; r < passing_.size(); ++r) {
      passing_[r] += passing_[r - 1];
      most_passing_ = std::max(most_passing_, passing_[r]);
    }
  }

  // The columns that show the drawing largest.
  [[nodiscard]] Columns choose() const {
    Columns best;
    std::int64_t tried = 0;  // the limit of edges that were allowed to pass
    for (const Limit& limit : kLimits) {
      const double before = zoom(best);
      if (before >= kReadableZoom || tried >= most_passing_) break;
      tried = limit.passing;
      double max_zoom = std::max(before * kMinGain, zoom({}) * limit.min_gain);
      for (std::uint32_t count = 2; count <= max_count(); ++count) {
        // A rank or two more, where the last column would hold only what the others had no room
        // for.
        for (const double ranks : {0.0, 1.0, 2.0}) {
          Columns columns =
              cut(end_.back() / count + ranks * end_.back() / static_cast<double>(start_.size()),
                  limit.passing);
          if (columns.first.size() < 2) continue;
          const double with = zoom(columns) * fullness(columns);
          if (with <= max_zoom) continue;
          max_zoom = with;
          best = std::move(columns);
        }
      }
    }
    return best;
  }

  void apply(const Columns& columns, std::vector<Point>& centres,
             std::vector<std::vector<Point>>& routes, Size& size) {
    columns_ = columns;
    find_passages(routes);
    for (std::uint32_t n = 0; n < centres.size(); ++n)
      centres[n] = moved(column_of((*desc_.ranks)[n]), centres[n]);
    for (std::uint32_t e = 0; e < routes.size(); ++e) routes[e] = folded(e, routes[e]);
    size = size_of(columns_);
  }

 private:
  // More columns than twice those that have the shape of the view show the drawing smaller.
  [[nodiscard]] std::uint32_t max_count() const {
    const double fit = std::sqrt(end_.back() * static_cast<double>(desc_.view.width) /
                                 (static_cast<double>(std::max(size_.width, 1.0f)) *
                                  static_cast<double>(desc_.view.height)));
    return static_cast<std::uint32_t>(
        std::min({2 * fit + 2, kMaxColumns, end_.back() / std::max(desc_.min_height, 1.0)}));
  }
  // Between edges that pass from one column to the next.
  [[nodiscard]] double spacing(const Columns& columns) const {
    const double gap = desc_.edge_gap,
                 bundle = std::max(kSpread * gap, kBundle * static_cast<double>(size_.width));
    return std::min(gap, bundle / (columns.passing + 1.0));
  }
  // Above and below columns, and between them at least.
  [[nodiscard]] double edge_room(const Columns& columns) const {
    return spacing(columns) * (columns.passing + 1.0);
  }
  [[nodiscard]] double top(const Columns& columns) const { return desc_.head + edge_room(columns); }
  [[nodiscard]] double gap(const Columns& columns) const {
    return std::max(static_cast<double>(desc_.column_gap), edge_room(columns));
  }
  [[nodiscard]] double pitch(const Columns& columns) const {
    return static_cast<double>(size_.width) + gap(columns);
  }
  [[nodiscard]] double height(const Columns& columns, std::size_t column) const {
    const std::size_t last =
        column + 1 < columns.first.size() ? columns.first[column + 1] - 1 : end_.size() - 1;
    return end_[last] - start_[columns.first[column]];
  }
  [[nodiscard]] Size size_of(const Columns& columns) const {
    if (columns.first.size() == 1) return size_;
    double tallest = 0;
    for (std::size_t c = 0; c < columns.first.size(); ++c)
      tallest = std::max(tallest, height(columns, c));
    return {static_cast<float>(pitch(columns) * static_cast<double>(columns.first.size()) -
                               gap(columns)),
            static_cast<float>(top(columns) + tallest + edge_room(columns))};
  }
  [[nodiscard]] double zoom(const Columns& columns) const {
    const Size size = size_of(columns);
    return std::min({1.0, static_cast<double>(desc_.view.width / std::max(size.width, 1.0f)),
                     static_cast<double>(desc_.view.height / std::max(size.height, 1.0f))});
  }
  // 1 if the last column is as high as the highest, less if it is lower.
  [[nodiscard]] double fullness(const Columns& columns) const {
    double tallest = 0;
    for (std::size_t c = 0; c < columns.first.size(); ++c)
      tallest = std::max(tallest, height(columns, c));
    return 1 - kEmptyLast * (1 - height(columns, columns.first.size() - 1) / tallest);
  }
  // Columns of at most this height where edges allow.
  [[nodiscard]] Columns cut(double max_height, std::uint32_t max_passing) const {
    Columns columns;
    for (std::uint32_t r = 1; r < start_.size(); ++r) {
      if (end_[r] - start_[columns.first.back()] <= max_height || passing_[r] > max_passing)
        continue;
      columns.first.push_back(r);
      columns.passing = std::max(columns.passing, static_cast<std::uint32_t>(passing_[r]));
    }
    return columns;
  }
  [[nodiscard]] std::size_t column_of(std::uint32_t rank) const {
    const std::vector<std::uint32_t>& first = columns_.first;
    return static_cast<std::size_t>(std::upper_bound(first.begin(), first.end(), rank) -
                                    first.begin()) -
           1;
  }
  [[nodiscard]] Point moved(std::size_t column, Point p) const {
    return {static_cast<float>(p.x + pitch(columns_) * static_cast<double>(column)),
            static_cast<float>(p.y - start_[columns_.first[column]] + top(columns_))};
  }
  // The y at which column `column` ends and the next starts, before folding.
  [[nodiscard]] double cut_after(std::size_t column) const {
    const std::uint32_t next = columns_.first[column + 1];
    return (end_[next - 1] + start_[next]) / 2;
  }

  // An edge that passes from a column to the next.
  struct Passage {
    std::uint32_t column = 0;
    double x = 0;
    double inner = 0, middle = 0;  // place among those of the column, 1: the rightmost; their mean
  };
  static double x_at(Point a, Point b, double y) {
    return a.x + static_cast<double>(b.x - a.x) * (y - a.y) / std::max(b.y - a.y, 1e-6f);
  }
  void find_passages(const std::vector<std::vector<Point>>& routes) {
    passages_.clear();
    first_passage_.assign(1, 0);
    std::vector<std::vector<std::size_t>> of_column(columns_.first.size());
    for (std::uint32_t e = 0; e < routes.size(); ++e) {
      std::size_t column = first_column(e);
      for (std::size_t i = 1; i < routes[e].size(); ++i) {
        const Point a = routes[e][i - 1], b = routes[e][i];
        for (; ends_before(column, b); ++column) {
          of_column[column].push_back(passages_.size());
          passages_.push_back(
              {static_cast<std::uint32_t>(column), x_at(a, b, cut_after(column)), 0, 0});
        }
      }
      first_passage_.push_back(passages_.size());
    }
    for (std::vector<std::size_t>& of : of_column) {
      std::stable_sort(of.begin(), of.end(), [&](std::size_t a, std::size_t b) {
        return passages_[a].x < passages_[b].x;
      });
      for (std::size_t i = 0; i < of.size(); ++i) {
        passages_[of[i]].inner = static_cast<double>(of.size() - i);
        passages_[of[i]].middle = (static_cast<double>(of.size()) + 1) / 2;
      }
    }
  }
  // Leads an edge below a column and to the top of the next. The leftmost edge goes lowest and
  // stays outermost, so that edges do not cross.
  void add_passage(const Passage& passage, std::vector<Point>& path) const {
    const double next = pitch(columns_) * (passage.column + 1.0), step = spacing(columns_);
    const auto from = static_cast<float>(passage.x + next - pitch(columns_)),
               to = static_cast<float>(passage.x + next),
               between = static_cast<float>(next - gap(columns_) / 2 +
                                            (passage.inner - passage.middle) * step),
               below = static_cast<float>(top(columns_) + height(columns_, passage.column) +
                                          passage.inner * step),
               above = static_cast<float>(passage.inner * step);
    for (const Point p :
         {Point{from, below}, Point{between, below}, Point{between, above}, Point{to, above}})
      path.push_back(p);
  }
  // The column in which an edge starts.
  [[nodiscard]] std::size_t first_column(std::uint32_t edge) const {
    return column_of((*desc_.ranks)[desc_.graph->edges[edge].from]);
  }
  [[nodiscard]] bool ends_before(std::size_t column, Point p) const {
    return column + 1 < columns_.first.size() && p.y >= cut_after(column);
  }
  [[nodiscard]] std::vector<Point> folded(std::uint32_t edge,
                                          const std::vector<Point>& route) const {
    std::vector<Point> path;
    std::size_t column = first_column(edge), passage = first_passage_[edge];
    path.push_back(moved(column, route.front()));
    for (std::size_t i = 1; i < route.size(); ++i) {
      for (; ends_before(column, route[i]); ++column) add_passage(passages_[passage++], path);
      path.push_back(moved(column, route[i]));
    }
    return path;
  }

  const FoldDesc& desc_;
  const std::vector<double>&start_, &end_;
  Size size_;
  std::vector<std::int64_t> passing_;  // edges that pass into each rank from above
  std::int64_t most_passing_ = 0;
  Columns columns_;
  // passages of edge e: passages_[first_passage_[e], first_passage_[e + 1])
  std::vector<Passage> passages_;
  std::vector<std::size_t> first_passage_;
};

}  // namespace

std::uint32_t fold(const FoldDesc& desc, std::vector<Point>& centres,
                   std::vector<std::vector<Point>>& routes, Size& size) {
  if (desc.view.width <= 0 || desc.view.height <= 0 || desc.rank_start->size() < 2) return 1;
  Folder folder(desc, size);
  const Columns columns = folder.choose();
  if (columns.first.size() > 1) folder.apply(columns, centres, routes, size);
  return static_cast<std::uint32_t>(columns.first.size());
}

}  // namespace reprise::viewer
