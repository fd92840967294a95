// PlayedThreads: real threads that run one function at a time, so that state per thread belongs to
// the right thread. Threads: one.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

namespace reprise::test {

class PlayedThreads {
 public:
  // Returns after `what` has run.
  void run(std::uint32_t thread, const std::function<void()>& what) {
    auto& own = threads_[thread];
    if (!own) own = std::make_unique<Thread>();
    own->run(what);
  }

 private:
  class Thread {
   public:
    Thread() : thread_([this] { serve(); }) {}
    Thread(const Thread&) = delete;
    Thread& operator=(const Thread&) = delete;
    ~Thread() {
      run(nullptr);
      thread_.join();
    }
    void run(const std::function<void()>& what) {
      std::unique_lock lock(mutex_);
      what_ = &what;
      changed_.notify_all();
      changed_.wait(lock, [this] { return what_ == nullptr; });
    }

   private:
    void serve() {
      for (bool goes_on = true; goes_on;) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return what_ != nullptr; });
        goes_on = static_cast<bool>(*what_);
        if (goes_on) (*what_)();
        what_ = nullptr;
        changed_.notify_all();
      }
    }
    std::mutex mutex_;
    std::condition_variable changed_;
    const std::function<void()>* what_ = nullptr;  // the function to run; empty: stop
    std::thread thread_;
  };
  std::map<std::uint32_t, std::unique_ptr<Thread>> threads_;
};

}  // namespace reprise::test
