#include "backend/host/process_exit.hpp"

#include <stdlib.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <mutex>
#include <vector>

#include "backend/host/host_work_queue.hpp"
#include "base/creator_process.hpp"

namespace reprise::detail {

namespace {

struct Queues {
  std::mutex mutex;
  std::vector<HostWorkQueue*> all;  // under mutex
  std::atomic<int> exit_status{EXIT_SUCCESS};
};
// A forked child has none of its parent's queues.
Queues& queues() {
  static constinit PerProcess<Queues> of_process;
  return of_process.get();
}

// Runs after the last static destructor of the program and before those of the libraries that it
// links. Destructor functions of the program without or with a larger number run before.
[[gnu::destructor(101)]] void end_process() {
  bool is_running = false;
  {
    const std::lock_guard lock(queues().mutex);
    for (HostWorkQueue* const queue : queues().all) is_running |= queue->stop();
  }
  if (!is_running) return;
  std::fflush(nullptr);
  ::_exit(queues().exit_status.load());
}

}  // namespace

void add_to_process(HostWorkQueue& queue) {
  const std::lock_guard lock(queues().mutex);
  queues().all.push_back(&queue);
}

void remove_from_process(HostWorkQueue& queue) noexcept {
  const std::lock_guard lock(queues().mutex);
  std::erase(queues().all, &queue);
}

void prepare_process_exit() {
  static const int is_registered =
      ::on_exit([](int status, void*) { queues().exit_status.store(status); }, nullptr);
  static_cast<void>(is_registered);
}

}  // namespace reprise::detail
