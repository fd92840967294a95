// QueueStopwatch: the time that a stretch of a queue's work takes, by the device's own clock.
// Threads: one at a time.
#pragma once

namespace reprise::detail {

class QueueStopwatch {
 public:
  virtual ~QueueStopwatch() = default;
  // Between two submissions to the queue. Neither waits. Throws DeviceLost.
  virtual void start() = 0;
  virtual void stop() = 0;
  // From start() to stop(), which have both been called; waits until that stretch is over. Throws
  // DeviceLost.
  [[nodiscard]] virtual double nanoseconds() = 0;
};

}  // namespace reprise::detail
