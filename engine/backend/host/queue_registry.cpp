#include "backend/host/queue_registry.hpp"

#include "backend/host/host_work_queue.hpp"

namespace reprise::detail {

void QueueRegistry::add(const std::shared_ptr<HostWorkQueue>& line) {
  std::lock_guard lock(mutex_);
  std::erase_if(lines_, [](const auto& weak) { return weak.expired(); });
  lines_.push_back(line);
}

std::vector<std::shared_ptr<HostWorkQueue>> QueueRegistry::live() {
  std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<HostWorkQueue>> result;
  for (const auto& weak : lines_) {
    if (auto line = weak.lock()) result.push_back(std::move(line));
  }
  return result;
}

void QueueRegistry::abandon_all() {
  for (const auto& line : live()) line->abandon();
}

void QueueRegistry::wait_until_quiet() {
  for (const auto& line : live()) line->wait_until_quiet();
}

void QueueRegistry::wait_until_not_running(const HostExec& exec) {
  for (const auto& line : live()) line->wait_until_not_running(exec);
}

}  // namespace reprise::detail
