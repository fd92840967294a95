// Background and AsyncValue: compute values that take longer than a UI frame on worker threads. The
// drawing thread shows the previous value until the next one is ready. Threads: any thread may call
// Background; an AsyncValue belongs to the drawing thread, and its function runs on a worker.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/shown_text.hpp"

namespace reprise::viewer {

class Background {
 public:
  explicit Background(unsigned threads = 2);
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;
  ~Background();  // completes running work and discards queued work

  // Queues `work` to run once on a worker. Exceptions that `work` throws are discarded.
  void run(std::function<void()> work);
  // Blocks until the queue is empty and no work runs. For tests and screenshots.
  void wait_until_idle();
  // Sets a callback that a worker calls after each completed work item, to wake a sleeping drawing
  // thread.
  void on_finished(std::function<void()> wake);

 private:
  void work();

  std::mutex mutex_;  // guards all members below except threads_
  std::condition_variable wake_, idle_;
  std::vector<std::function<void()>> waiting_;  // FIFO
  std::shared_ptr<const std::function<void()>> finished_;
  unsigned running_ = 0;
  bool stop_ = false;
  std::vector<std::thread> threads_;
};

// The newest value of a function of a key. Keys requested while a computation runs wait, and only
// the last of them is computed. Keys are compared with ==.
template <class Key, class Value>
class AsyncValue {
 public:
  explicit AsyncValue(Background& background)
      : background_(background), shared_(std::make_shared<Shared>()) {}

  // Requests the value of `key`. No effect if `key` was the last key requested. `make` returns a
  // Value and runs on a worker.
  template <class Make>
  void ask(const Key& key, Make make) {
    const std::lock_guard lock(shared_->mutex);
    if (shared_->requested && *shared_->requested == key) return;
    shared_->requested = key;
    shared_->make = std::move(make);
    if (!shared_->running) start(shared_, background_);
  }
  // The newest value, possibly of an older key; null if no value exists yet.
  [[nodiscard]] std::shared_ptr<const Value> value() const {
    const std::lock_guard lock(shared_->mutex);
    return shared_->value;
  }
  // The value of `key`; null if the newest value has another key.
  [[nodiscard]] std::shared_ptr<const Value> value(const Key& key) const {
    const std::lock_guard lock(shared_->mutex);
    return shared_->value_key && *shared_->value_key == key ? shared_->value : nullptr;
  }
  [[nodiscard]] bool is_busy() const {
    const std::lock_guard lock(shared_->mutex);
    return shared_->running;
  }
  // The error of the last computation; empty if it succeeded.
  [[nodiscard]] std::string error() const {
    const std::lock_guard lock(shared_->mutex);
    return shared_->error;
  }

 private:
  struct Shared {
    mutable std::mutex mutex;
    std::optional<Key> requested, value_key;
    std::function<Value()> make;
    std::shared_ptr<const Value> value;
    std::string error;
    bool running = false;
  };

  // The caller holds the mutex.
  static void start(const std::shared_ptr<Shared>& shared, Background& background) {
    shared->running = true;
    background.run([shared, &background] { step(shared, background); });
  }
  static void step(const std::shared_ptr<Shared>& shared, Background& background) {
    Key key;
    std::function<Value()> make;
    {
      const std::lock_guard lock(shared->mutex);
      key = *shared->requested;
      make = std::move(shared->make);
    }
    std::shared_ptr<const Value> value;
    std::string error;
    try {
      value = std::make_shared<const Value>(make());
    } catch (const std::exception& failure) {
      error = detail::failure_text(failure, "computing what this view shows");
    }
    const std::lock_guard lock(shared->mutex);
    if (value) {
      shared->value = std::move(value);
      shared->value_key = key;
    }
    shared->error = std::move(error);
    shared->running = false;
    if (!(*shared->requested == key)) start(shared, background);
  }

  Background& background_;
  std::shared_ptr<Shared> shared_;
};

}  // namespace reprise::viewer
