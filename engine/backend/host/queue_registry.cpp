#include "backend/host/queue_registry.hpp"

#include "backend/host/host_work_queue.hpp"

namespace reprise::detail {

void QueueRegistry::add(const std::shared_ptr<HostWorkQueue>& work_queue) {
  std::lock_guard lock(mutex_);
  std::erase_if(queues_, [](const auto& weak) { return weak.expired(); });
  queues_.push_back(work_queue);
}

std::vector<std::shared_ptr<HostWorkQueue>> QueueRegistry::live() {
  std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<HostWorkQueue>> result;
  for (const auto& weak : queues_) {
    if (auto work_queue = weak.lock()) result.push_back(std::move(work_queue));
  }
  return result;
}

void QueueRegistry::abandon_all() {
  for (const auto& work_queue : live()) work_queue->abandon();
}

void QueueRegistry::wait_until_idle() {
  for (const auto& work_queue : live()) work_queue->wait_until_idle();
}

void QueueRegistry::wait_until_not_running(const HostExec& exec) {
  for (const auto& work_queue : live()) work_queue->wait_until_not_running(exec);
}

}  // namespace reprise::detail
