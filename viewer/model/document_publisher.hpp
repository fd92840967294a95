// DocumentPublisher: hands documents and statuses from a feed's thread to its readers.
// PublishThrottle: limits how often the feed publishes. Neither knows files or sockets. Threads:
// DocumentPublisher any, PublishThrottle one.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string_view>

#include "model/trace_feed.hpp"

namespace reprise::model {

class DocumentPublisher {
 public:
  // `on_change` may be empty and must not throw. It runs on the posting thread without any lock
  // held.
  explicit DocumentPublisher(std::function<void()> on_change);

  // Without a document, the previous one stays.
  void post(FeedStatus status, std::shared_ptr<const Document> document = nullptr);

  // Posts the state Failed. The last document stays.
  void fail(std::string_view reason) noexcept;

  [[nodiscard]] std::shared_ptr<const Document> document() const;  // never null
  [[nodiscard]] FeedStatus status() const;
  // Blocks until `condition` holds for the status and document, at most `seconds`. Returns whether
  // it holds.
  [[nodiscard]] bool wait(const std::function<bool(const FeedStatus&, const Document&)>& condition,
                          double seconds) const;

 private:
  const std::function<void()> on_change_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  FeedStatus status_;
  std::shared_ptr<const Document> document_;
};

// Limits publications to about 60 per second and to a tenth of the feed thread's time.
class PublishThrottle {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr Clock::duration kMinInterval = std::chrono::microseconds(16'667);

  [[nodiscard]] Clock::time_point due() const noexcept { return due_; }
  [[nodiscard]] bool is_due() const noexcept { return Clock::now() >= due_; }
  // Calls `publish_now` and schedules the next publication.
  template <class Publish>
  void publish(Publish publish_now) {
    const Clock::time_point start = Clock::now();
    publish_now();
    due_ = start + std::max(kMinInterval, 10 * (Clock::now() - start));
  }

 private:
  Clock::time_point due_{};
};

}  // namespace reprise::model
