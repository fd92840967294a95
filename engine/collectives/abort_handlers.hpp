// AbortHandlers: functions that run once when a job is aborted. Threads: add() and the destruction
// of its results on any, run() on one. A forked child uses no copy.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

namespace reprise::detail {

class AbortHandlers : public std::enable_shared_from_this<AbortHandlers> {
 public:
  using Handler = std::function<void(const std::string& reason)>;

  // The destruction of the result removes the handler. It waits while the handler runs, except on
  // the thread of run().
  [[nodiscard]] std::shared_ptr<const void> add(Handler handler);
  // Runs and removes all handlers. Ignores their exceptions.
  void run(const std::string& reason);

 private:
  struct Removal;
  void remove(std::uint64_t id);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::uint64_t, Handler> handlers_;
  std::uint64_t next_ = 1, running_ = 0;
  std::thread::id runner_;  // while a handler runs
};

}  // namespace reprise::detail
