// Mailbox: a queue of messages from any threads to one thread. Threads: put() and close() any;
// take() one.
#pragma once

#include <condition_variable>
#include <list>
#include <mutex>
#include <optional>
#include <utility>

namespace reprise::detail {

template <class Message>
class Mailbox {
 public:
  // Returns false after close() and throws std::bad_alloc; both leave `message` unchanged.
  [[nodiscard]] bool put(Message&& message) {
    std::list<Message> one;
    one.push_back(std::move(message));
    const bool is_open = put(one);
    if (!is_open) message = std::move(one.front());
    return is_open;
  }
  // Takes the messages of the list, unless this returns false. Allocates nothing.
  [[nodiscard]] bool put(std::list<Message>& messages) noexcept {
    {
      const std::lock_guard lock(mutex_);
      if (is_closed_) return false;
      messages_.splice(messages_.end(), messages);
    }
    changed_.notify_one();
    return true;
  }
  // Blocks for a message. Returns empty if the mailbox is closed and has no messages.
  [[nodiscard]] std::optional<Message> take() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return is_closed_ || !messages_.empty(); });
    if (messages_.empty()) return std::nullopt;
    std::optional<Message> first(std::move(messages_.front()));
    messages_.pop_front();
    return first;
  }
  void close() {
    {
      const std::lock_guard lock(mutex_);
      is_closed_ = true;
    }
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::list<Message> messages_;
  bool is_closed_ = false;
};

}  // namespace reprise::detail
