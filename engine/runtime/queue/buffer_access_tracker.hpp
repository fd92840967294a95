// BufferAccessTracker: the submissions that later accesses to one buffer must wait for: the last
// writes and the reads since, at most one of each kind per queue. Knows no graph.
// Threads: under DeviceCore::order().
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "runtime/queue/queue_point.hpp"

namespace reprise::detail {

class BufferAccessTracker {
 public:
  // Reserves room for `more` points, so that as many calls of add() or replace() do not allocate.
  // Erases complete points.
  void reserve(std::size_t more);
  // Adds an access that waited for no other. Call reserve() before.
  void add(const QueuePoint& point) noexcept;
  // Adds an access that waited for all conflicting ones: a write replaces every earlier point.
  void replace(const QueuePoint& point) noexcept;
  // Makes later submissions of `queue` wait for the points that conflict with `access`.
  void wait_for_conflicts(QueueCore& queue, Access access) const;

  // True if `access` conflicts with a point that is not complete.
  [[nodiscard]] bool conflicts(Access access) const noexcept;
  // True if every point is complete.
  [[nodiscard]] bool is_complete() const noexcept;
  [[nodiscard]] const std::shared_ptr<QueueCore>& last_writer() const noexcept {
    return last_writer_;  // null: never written
  }
  [[nodiscard]] const std::vector<QueuePoint>& points() const noexcept { return points_; }

 private:
  std::vector<QueuePoint> points_;  // access is Read or Write
  std::shared_ptr<QueueCore> last_writer_;
};

}  // namespace reprise::detail
