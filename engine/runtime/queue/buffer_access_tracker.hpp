// BufferAccessTracker: who used a buffer last, as far as somebody else may have to wait for it: the
// last writes and the reads since, one of each kind a queue at most. Knows no graph. Threads: under
// DeviceCore::order().
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "runtime/queue/queue_point.hpp"

namespace reprise::detail {

class BufferAccessTracker {
 public:
  // Room for `more` points, so that as many calls of add() or replace() allocate nothing. Forgets
  // points that are over.
  void reserve(std::size_t more);
  // A use that waited for no other. Call reserve() before.
  void add(const QueuePoint& point) noexcept;
  // A use that waited for all it conflicts with: a write takes the place of everything before it.
  void replace(const QueuePoint& point) noexcept;
  // Makes `queue`'s later submissions wait for what conflicts with `access`.
  void follow(QueueCore& queue, Access access) const;

  [[nodiscard]] bool conflicts(Access access) const noexcept;  // with a point that is not over
  [[nodiscard]] bool is_complete() const noexcept;  // every point is, whatever else their queues do
  [[nodiscard]] const std::shared_ptr<QueueCore>& last_writer() const noexcept {
    return last_writer_;
  }  // null: none
  [[nodiscard]] std::vector<QueuePoint> take() noexcept { return std::move(points_); }

 private:
  std::vector<QueuePoint> points_;  // access is Read or Write
  std::shared_ptr<QueueCore> last_writer_;
};

}  // namespace reprise::detail
