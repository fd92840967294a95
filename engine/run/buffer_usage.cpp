#include "run/buffer_usage.hpp"

#include <algorithm>

#include "run/queue_core.hpp"

namespace reprise::detail {

namespace {

bool conflict(Access a, Access b) { return writes(a) || writes(b); }

// On an adopted queue more may follow that the engine does not see, so such a point is never forgotten.
bool is_of_no_use(const Point& point) { return point.queue->origin() == QueueOrigin::Ours && is_over(point); }

}  // namespace

void BufferUsage::reserve(std::size_t more) {
  if (points_.size() + more <= points_.capacity()) return;
  std::erase_if(points_, is_of_no_use);
  if (points_.size() + more <= points_.capacity()) return;
  points_.reserve(std::max(points_.size() + more, 2 * points_.capacity()));
}

void BufferUsage::add(const Point& point) noexcept {
  const Access access = writes(point.access) ? Access::Write : Access::Read;
  if (access == Access::Write && last_writer_ != point.queue) last_writer_ = point.queue;
  for (Point& known : points_) {
    if (known.queue != point.queue || known.access != access) continue;
    known.serial = std::max(known.serial, point.serial);
    return;
  }
  points_.push_back({point.queue, point.serial, access});
}

void BufferUsage::replace(const Point& point) noexcept {
  if (!writes(point.access)) {
    add(point);
    return;
  }
  // The usual case is one writer on one queue: no reference is counted then.
  if (points_.size() == 1 && points_[0].queue == point.queue && points_[0].access == Access::Write) {
    points_[0].serial = point.serial;
    return;
  }
  points_.clear();
  add(point);
}

void BufferUsage::follow(QueueCore& queue, Access access) const {
  for (const Point& point : points_) {
    if (conflict(access, point.access)) queue.follow(point);
  }
}

bool BufferUsage::is_over() const noexcept {
  return std::all_of(points_.begin(), points_.end(), [](const Point& point) { return detail::is_over(point); });
}

bool BufferUsage::conflicts(Access access) const noexcept {
  return std::any_of(points_.begin(), points_.end(), [&](const Point& p) { return conflict(access, p.access) && !is_of_no_use(p); });
}

}  // namespace reprise::detail
