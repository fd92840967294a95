#include "collectives/abort_handlers.hpp"

#include <utility>

#include "base/creator_process.hpp"

namespace reprise::detail {

struct AbortHandlers::Removal {
  std::shared_ptr<AbortHandlers> handlers;
  std::uint64_t id;
  CreatorProcess process;

  Removal(std::shared_ptr<AbortHandlers> of, std::uint64_t number)
      : handlers(std::move(of)), id(number) {}
  Removal(const Removal&) = delete;
  Removal& operator=(const Removal&) = delete;
  ~Removal() {
    if (process.is_current()) handlers->remove(id);
  }
};

std::shared_ptr<const void> AbortHandlers::add(Handler handler) {
  const std::lock_guard lock(mutex_);
  auto removal = std::make_shared<const Removal>(shared_from_this(), next_);
  handlers_.emplace(next_++, std::move(handler));
  return removal;
}

void AbortHandlers::remove(std::uint64_t id) {
  Handler removed;  // destroyed without the lock
  std::unique_lock lock(mutex_);
  if (const auto at = handlers_.find(id); at != handlers_.end()) {
    removed = std::move(at->second);
    handlers_.erase(at);
  }
  if (runner_ != std::this_thread::get_id()) changed_.wait(lock, [&] { return running_ != id; });
}

void AbortHandlers::run(const std::string& reason) {
  std::unique_lock lock(mutex_);
  while (!handlers_.empty()) {
    auto handler = handlers_.extract(handlers_.begin());
    running_ = handler.key();
    runner_ = std::this_thread::get_id();
    lock.unlock();
    try {
      handler.mapped()(reason);
    } catch (...) {
    }
    handler = {};
    lock.lock();
    running_ = 0;
    runner_ = {};
    changed_.notify_all();
  }
}

}  // namespace reprise::detail
