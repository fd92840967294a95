#include "merge/clock_fit.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace reprise::trace {

namespace {

constexpr std::size_t kMaxEstimates = 1u << 16, kBlocks = 64;
constexpr int kIterations = 120;  // of a search; each shrinks an interval by a third at least

// The maximum of a concave function: its position.
template <class Function>
double argmax(const Function& f, double from, double to) {
  for (int i = 0; i < kIterations; ++i) {
    const double third = (to - from) / 3;
    f(from + third) < f(to - third) ? from += third : to -= third;
  }
  return (from + to) / 2;
}

// The limit of the values between `inside`, which is valid, and `outside`.
template <class Predicate>
double limit(const Predicate& is_valid, double inside, double outside) {
  if (is_valid(outside)) return outside;
  for (int i = 0; i < kIterations; ++i) {
    const double middle = (inside + outside) / 2;
    is_valid(middle) ? inside = middle : outside = middle;
  }
  return inside;
}

struct Range {
  double min = 0, max = 0;
};

double median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace

void ClockFit::Hull::add(Time at, Time offset) {
  points_.push_back({at, sign_ * std::clamp(offset, -kMaxTime, kMaxTime)});
  if (points_.size() < limit_) return;
  reduce();
  limit_ = std::max(limit_, 2 * points_.size());
}

std::vector<ClockFit::Point> ClockFit::Hull::points() const {
  Hull hull = *this;
  hull.reduce();
  return std::move(hull.points_);
}

// Keeps the upper convex hull, by time. Andrew's monotone chain.
void ClockFit::Hull::reduce() {
  std::sort(points_.begin(), points_.end());
  const auto is_below = [](const Point& a, const Point& b, const Point& c) {
    const auto slope_to = [&](const Point& p) {
      return static_cast<double>(p.offset - a.offset) / static_cast<double>(p.at - a.at);
    };
    return slope_to(b) <= slope_to(c);
  };
  std::size_t count = 0;
  for (const Point& p : points_) {
    while (count > 0 && points_[count - 1].at == p.at) --count;  // the last one is the highest
    while (count > 1 && is_below(points_[count - 2], points_[count - 1], p)) --count;
    points_[count++] = p;
  }
  points_.resize(count);
}

void ClockFit::add_estimate(Time at, Time offset) {
  if (estimates_seen_++ % stride_ != 0) return;
  estimates_.push_back({at, std::clamp(offset, -kMaxTime, kMaxTime)});
  if (estimates_.size() < kMaxEstimates) return;
  for (std::size_t i = 0; 2 * i < estimates_.size(); ++i) estimates_[i] = estimates_[2 * i];
  estimates_.resize(kMaxEstimates / 2);
  stride_ *= 2;
}

// The lines that obey all bounds, as a convex region of offsets at time 0 and drifts. Coordinates
// are relative to a point nearby, so that double keeps fractions of a nanosecond.
class ClockFit::Lines {
 public:
  Lines(const ClockFit& fit, Time origin) : origin_(origin) {
    const std::vector<Point> lower = fit.lower_.points(), upper = fit.upper_.points();
    base_ = lower.front().offset;
    for (const Point& p : lower) lower_.push_back({x(p.at), static_cast<double>(p.offset - base_)});
    for (const Point& p : upper) upper_.push_back({x(p.at), static_cast<double>(p.offset + base_)});
    const double best =
        argmax([&](double d) { return highest(d) - lowest(d); }, -kMaxDrift, kMaxDrift);
    widened_ = std::max(0.0, lowest(best) - highest(best));
    const auto is_feasible = [&](double d) { return highest(d) >= lowest(d); };
    drifts_ = {limit(is_feasible, best, -kMaxDrift), limit(is_feasible, best, kMaxDrift)};
  }

  [[nodiscard]] double x(Time at) const { return static_cast<double>(at - origin_); }
  [[nodiscard]] double y(Time offset) const { return static_cast<double>(offset - base_); }
  [[nodiscard]] Time base() const noexcept { return base_; }
  // The widening of every bound, ns.
  [[nodiscard]] double widened() const noexcept { return widened_; }
  [[nodiscard]] Range drifts() const noexcept { return drifts_; }
  [[nodiscard]] Range offsets_at(double x) const {
    const auto high = [&](double d) { return highest(d) + d * x; };
    const auto low = [&](double d) { return -lowest(d) - d * x; };
    const double max = high(argmax(high, drifts_.min, drifts_.max));
    return {std::min(max, -low(argmax(low, drifts_.min, drifts_.max))), max};  // despite rounding
  }

 private:
  struct Vertex {
    double x, y;
  };
  // The maximum of y - d * x. The slopes of a hull decrease.
  static double tangent(const std::vector<Vertex>& hull, double d) {
    std::size_t from = 0, to = hull.size() - 1;
    while (from < to) {
      const std::size_t i = (from + to) / 2;
      hull[i + 1].y - hull[i].y > d*(hull[i + 1].x - hull[i].x) ? from = i + 1 : to = i;
    }
    return hull[from].y - d * hull[from].x;
  }
  [[nodiscard]] double lowest(double d) const { return tangent(lower_, d) - widened_; }
  [[nodiscard]] double highest(double d) const { return widened_ - tangent(upper_, -d); }

  Time origin_, base_ = 0;
  std::vector<Vertex> lower_, upper_;  // upper_: with negative y
  double widened_ = 0;
  Range drifts_;
};

ClockLine ClockFit::line(Time first, Time last) const {
  const Lines lines(*this, first);
  const double end = lines.x(last);
  const Range at_first = lines.offsets_at(0), at_last = lines.offsets_at(end);
  double offset = (at_first.min + at_first.max) / 2, last_offset = (at_last.min + at_last.max) / 2;
  double drift = end > 0 ? (last_offset - offset) / end : 0;

  // Least squares through the medians of blocks, relative to the middle line.
  std::vector<Point> points = estimates_;
  std::sort(points.begin(), points.end());
  const std::size_t blocks = std::min(kBlocks, points.size());
  std::vector<double> block_x, block_y;
  for (std::size_t block = 0; block < blocks; ++block) {
    std::vector<double> xs, ys;
    for (std::size_t i = block * points.size() / blocks; i < (block + 1) * points.size() / blocks;
         ++i) {
      xs.push_back(lines.x(points[i].at));
      ys.push_back(lines.y(points[i].offset) - offset - drift * xs.back());
    }
    block_x.push_back(median(xs));
    block_y.push_back(median(ys));
  }
  if (blocks > 0) {
    const double mean_x = mean(block_x), mean_y = mean(block_y);
    double xx = 0, xy = 0;
    for (std::size_t i = 0; i < blocks; ++i) {
      xx += (block_x[i] - mean_x) * (block_x[i] - mean_x);
      xy += (block_x[i] - mean_x) * (block_y[i] - mean_y);
    }
    const double slope =
        std::clamp(drift + (xx > 0 ? xy / xx : 0), lines.drifts().min, lines.drifts().max);
    offset += mean_y - (slope - drift) * mean_x;
    last_offset = offset + slope * end;
  }
  offset = std::clamp(offset, at_first.min, at_first.max);
  last_offset = std::clamp(last_offset, at_last.min, at_last.max);
  drift = end > 0 ? (last_offset - offset) / end : 0;
  const double distance = std::max({offset - at_first.min, at_first.max - offset,
                                    last_offset - at_last.min, at_last.max - last_offset});
  constexpr double kMax = static_cast<double>(kMaxTime);
  const Time rounded = lines.base() + std::llround(std::clamp(offset, -kMax, kMax));
  const double error = std::min(std::ceil(distance + lines.widened()) + 2, kMax);
  return {first, std::clamp(rounded, -kMaxTime, kMaxTime), drift, static_cast<Time>(error)};
}

}  // namespace reprise::trace
