// The line of one host clock against another: reference = own + offset + drift * (own - at).
// Threads: values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "trace/records.hpp"

namespace reprise::trace {

// The maximum rate at which two host clocks drift apart.
inline constexpr double kMaxDrift = 200e-6;

struct ClockLine {
  Time at = 0, offset = 0;
  double drift = 0;
  Time error = 0;  // bound of the error in the interval that the line was fitted to
};

// Bounds and estimates of an offset, the reference clock minus the own one, at own times. Memory:
// the convex hulls of the bounds, and a limited sample of the estimates.
class ClockFit {
 public:
  void add_lower(Time at, Time offset) { lower_.add(at, offset); }
  void add_upper(Time at, Time offset) { upper_.add(at, offset); }
  // Estimates do not affect the error bound, and may have outliers.
  void add_estimate(Time at, Time offset);
  // Whether there are bounds of both sides.
  [[nodiscard]] bool is_bounded() const noexcept { return !lower_.empty() && !upper_.empty(); }

  // The line through the estimates, or without any the middle of the lines that obey all bounds.
  // Its error bound is the maximum distance to one of those lines. If there are none, the bounds
  // are first widened to twice the minimum that admits one, which the error bound includes.
  // Requires is_bounded() and first <= last. Complexity: O(n log n).
  [[nodiscard]] ClockLine line(Time first, Time last) const;

 private:
  struct Point {
    Time at = 0, offset = 0;
    friend auto operator<=>(const Point&, const Point&) = default;
  };
  // The points that bound a line from one side, among all that were added. `sign` 1: from below.
  class Hull {
   public:
    explicit Hull(int sign) : sign_(sign) {}
    void add(Time at, Time offset);
    [[nodiscard]] bool empty() const noexcept { return points_.empty(); }
    [[nodiscard]] std::vector<Point> points() const;

   private:
    void reduce();
    int sign_;
    std::vector<Point> points_;
    std::size_t limit_ = 1024;  // points, before the next reduction
  };
  class Lines;

  Hull lower_{1}, upper_{-1};
  std::vector<Point> estimates_;
  std::uint64_t estimates_seen_ = 0, stride_ = 1;
};

}  // namespace reprise::trace
