// QueueRegistry: the queues of one host device, for what concerns all of them: loss. Threads: any
// thread.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

namespace reprise::detail {

class HostExec;
class HostWorkQueue;

class QueueRegistry {
 public:
  void add(const std::shared_ptr<HostWorkQueue>& line);
  // Drops what is queued and wakes who waits; the device is lost.
  void abandon_all();
  // Blocks until no queue of a lost device runs anything.
  void wait_until_quiet();
  // Blocks until no queue runs `exec`, which is queued nowhere.
  void wait_until_not_running(const HostExec& exec);

 private:
  [[nodiscard]] std::vector<std::shared_ptr<HostWorkQueue>> live();

  std::mutex mutex_;
  std::vector<std::weak_ptr<HostWorkQueue>> lines_;
};

}  // namespace reprise::detail
