// DocumentPublisher: where a feed's thread puts what there is to see, a document and a status, and
// everybody else looks; and the pace at which that thread does so. Knows neither files nor sockets.
// Threads: DocumentPublisher any, Pace one.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>

#include "model/trace_feed.hpp"

namespace reprise::model {

class DocumentPublisher {
 public:
  // `on_change` may be empty; it is called on the thread that posts, with nothing locked.
  explicit DocumentPublisher(std::function<void()> on_change);

  // Without a document, what is there stays.
  void post(FeedStatus status, std::shared_ptr<const Document> document = nullptr);

  [[nodiscard]] std::shared_ptr<const Document> document() const;  // never null
  [[nodiscard]] FeedStatus status() const;
  // Waits until `holds` of status and document, or for `seconds`; returns whether it does.
  [[nodiscard]] bool wait(const std::function<bool(const FeedStatus&, const Document&)>& holds,
                          double seconds) const;

 private:
  const std::function<void()> on_change_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  FeedStatus status_;
  std::shared_ptr<const Document> document_;
};

// When the next publication is due: at most about 60 a second, and fewer where they are dear, so
// that they take a tenth of the time.
class Pace {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr Clock::duration kLeast = std::chrono::microseconds(16'667);

  [[nodiscard]] Clock::time_point due() const noexcept { return due_; }
  [[nodiscard]] bool is_due() const noexcept { return Clock::now() >= due_; }
  // Publishes by calling `publish`.
  template <class Publish>
  void keep(Publish publish) {
    const Clock::time_point begin = Clock::now();
    publish();
    due_ = begin + std::max(kLeast, 10 * (Clock::now() - begin));
  }

 private:
  Clock::time_point due_{};
};

}  // namespace reprise::model
