// Background and AsyncValue: what takes longer than a frame is made on a thread of its own, and the
// drawing thread shows the last result until the next one is there. Threads: Background any; a
// AsyncValue belongs to the drawing thread, its function runs on Background's.
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

namespace reprise::viewer {

class Background {
 public:
  explicit Background(unsigned threads = 2);
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;
  ~Background();  // what has begun is finished, what waits is left out

  // Runs later, once. What it throws is lost: catch it.
  void run(std::function<void()> work);
  // Waits until nothing runs and nothing waits: for tests and pictures.
  void wait_until_idle();
  // Called on a thread of Background whenever something was finished, to wake a drawing thread that
  // sleeps.
  void on_finished(std::function<void()> wake);

 private:
  void work();

  std::mutex mutex_;  // of all below
  std::condition_variable wake_, idle_;
  std::vector<std::function<void()>> waiting_;  // first in, first out
  std::function<void()> finished_;
  unsigned running_ = 0;
  bool stop_ = false;
  std::vector<std::thread> threads_;
};

// The newest value of something that depends on a key. While one is made, another key that is asked
// for waits, and only the last such is made. Key is compared with ==.
template <class Key, class Value>
class AsyncValue {
 public:
  explicit AsyncValue(Background& background)
      : background_(background), shared_(std::make_shared<Shared>()) {}

  // Asks for the value of `key`, if that is not what is there, being made, or failed. `make`
  // returns a Value and runs in the background.
  template <class Make>
  void ask(const Key& key, Make make) {
    const std::lock_guard lock(shared_->mutex);
    if (shared_->wanted && *shared_->wanted == key) return;
    shared_->wanted = key;
    shared_->make = std::move(make);
    if (!shared_->running) start(shared_, background_);
  }
  // What is there, maybe of an older key; null: nothing yet.
  [[nodiscard]] std::shared_ptr<const Value> value() const {
    const std::lock_guard lock(shared_->mutex);
    return shared_->value;
  }
  // As value(), but only of this key.
  [[nodiscard]] std::shared_ptr<const Value> value(const Key& key) const {
    const std::lock_guard lock(shared_->mutex);
    return shared_->made && *shared_->made == key ? shared_->value : nullptr;
  }
  [[nodiscard]] bool is_busy() const {
    const std::lock_guard lock(shared_->mutex);
    return shared_->running;
  }
  // Why the last one that was wanted could not be made; empty: it could.
  [[nodiscard]] std::string error() const {
    const std::lock_guard lock(shared_->mutex);
    return shared_->error;
  }

 private:
  struct Shared {
    mutable std::mutex mutex;
    std::optional<Key> wanted, made;
    std::function<Value()> make;
    std::shared_ptr<const Value> value;
    std::string error;
    bool running = false;
  };

  // With the mutex held.
  static void start(const std::shared_ptr<Shared>& shared, Background& background) {
    shared->running = true;
    background.run([shared, &background] { step(shared, background); });
  }
  static void step(const std::shared_ptr<Shared>& shared, Background& background) {
    Key key;
    std::function<Value()> make;
    {
      const std::lock_guard lock(shared->mutex);
      key = *shared->wanted;
      make = std::move(shared->make);
    }
    std::shared_ptr<const Value> value;
    std::string error;
    try {
      value = std::make_shared<const Value>(make());
    } catch (const std::exception& failure) {
      error = failure.what();
    }
    const std::lock_guard lock(shared->mutex);
    if (value) {
      shared->value = std::move(value);
      shared->made = key;
    }
    shared->error = std::move(error);
    shared->running = false;
    if (!(*shared->wanted == key)) start(shared, background);
  }

  Background& background_;
  std::shared_ptr<Shared> shared_;
};

}  // namespace reprise::viewer
