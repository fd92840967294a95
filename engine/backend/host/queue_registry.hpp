// QueueRegistry: the queues of one host device, for operations on all of them after a loss.
// Threads: any thread.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

namespace reprise::detail {

class HostExec;
class HostWorkQueue;

class QueueRegistry {
 public:
  void add(const std::shared_ptr<HostWorkQueue>& work_queue);
  // Drops all queued work and wakes the waiters; the device is lost.
  void abandon_all();
  // Blocks until no queue of a lost device runs work.
  void wait_until_idle();
  // Blocks until no queue runs `exec`, which is not queued.
  void wait_until_not_running(const HostExec& exec);

 private:
  [[nodiscard]] std::vector<std::shared_ptr<HostWorkQueue>> live();

  std::mutex mutex_;
  std::vector<std::weak_ptr<HostWorkQueue>> queues_;
};

}  // namespace reprise::detail
