#include "runtime/queue/buffer_access_tracker.hpp"

#include <algorithm>

#include "runtime/queue/queue_core.hpp"

namespace reprise::detail {

namespace {

bool conflict(Access a, Access b) { return writes(a) || writes(b); }

bool is_obsolete(const QueuePoint& point) { return point.queue->is_obsolete(point.serial); }

}  // namespace

void BufferAccessTracker::reserve(std::size_t more) {
  if (points_.size() + more <= points_.capacity()) return;
  std::erase_if(points_, is_obsolete);
  if (points_.size() + more <= points_.capacity()) return;
  points_.reserve(std::max(points_.size() + more, 2 * points_.capacity()));
}

void BufferAccessTracker::add(const QueuePoint& point) noexcept {
  const Access access = writes(point.access) ? Access::Write : Access::Read;
  if (access == Access::Write && last_writer_ != point.queue) last_writer_ = point.queue;
  for (QueuePoint& known : points_) {
    if (known.queue != point.queue || known.access != access) continue;
    known.serial = std::max(known.serial, point.serial);
    return;
  }
  points_.push_back({point.queue, point.serial, access});
}

void BufferAccessTracker::replace(const QueuePoint& point) noexcept {
  if (!writes(point.access)) {
    add(point);
    return;
  }
  // One writer on one queue, the common case, touches no reference count.
  if (points_.size() == 1 && points_[0].queue == point.queue &&
      points_[0].access == Access::Write) {
    points_[0].serial = point.serial;
    return;
  }
  points_.clear();
  add(point);
}

void BufferAccessTracker::wait_for_conflicts(QueueCore& queue, Access access) const {
  for (const QueuePoint& point : points_) {
    if (conflict(access, point.access)) queue.wait_for(point);
  }
}

bool BufferAccessTracker::is_complete() const noexcept {
  return std::all_of(points_.begin(), points_.end(),
                     [](const QueuePoint& point) { return detail::is_complete(point); });
}

bool BufferAccessTracker::conflicts(Access access) const noexcept {
  return std::any_of(points_.begin(), points_.end(), [&](const QueuePoint& p) {
    return conflict(access, p.access) && !is_obsolete(p);
  });
}

}  // namespace reprise::detail
