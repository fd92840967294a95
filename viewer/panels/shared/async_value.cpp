#include "panels/shared/async_value.hpp"

namespace reprise::viewer {

Background::Background(unsigned threads) {
  for (unsigned i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
}

Background::~Background() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
    waiting_.clear();
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Background::run(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    if (stop_) return;
    waiting_.push_back(std::move(work));
  }
  wake_.notify_one();
}

void Background::wait_until_idle() {
  std::unique_lock lock(mutex_);
  idle_.wait(lock, [this] { return waiting_.empty() && running_ == 0; });
}

void Background::on_finished(std::function<void()> wake) {
  const std::lock_guard lock(mutex_);
  finished_ = wake ? std::make_shared<const std::function<void()>>(std::move(wake)) : nullptr;
}

void Background::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return stop_ || !waiting_.empty(); });
    if (stop_) return;
    std::function<void()> work = std::move(waiting_.front());
    waiting_.erase(waiting_.begin());
    ++running_;
    lock.unlock();
    try {
      work();
    } catch (...) {  // callers that need the error catch it inside `work`
    }
    work = nullptr;
    lock.lock();
    if (const std::shared_ptr<const std::function<void()>> finished = finished_) {
      lock.unlock();
      (*finished)();
      lock.lock();
    }
    --running_;
    if (waiting_.empty() && running_ == 0) idle_.notify_all();
  }
}

}  // namespace reprise::viewer
