// QueueStopwatch: measures the time of a section of a queue's work on the device's clock. Threads:
// one at a time.
#pragma once

namespace reprise::detail {

class QueueStopwatch {
 public:
  virtual ~QueueStopwatch() = default;
  // Called between two submissions to the queue. Does not wait. Throws DeviceLost.
  virtual void start() = 0;
  virtual void stop() = 0;
  // The time from start() to stop(). Waits until the work between them has completed. Throws
  // DeviceLost.
  [[nodiscard]] virtual double nanoseconds() = 0;
};

}  // namespace reprise::detail
