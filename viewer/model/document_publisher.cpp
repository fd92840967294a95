#include "model/document_publisher.hpp"

#include <new>
#include <utility>

#include "model/document_builder.hpp"

namespace reprise::model {

DocumentPublisher::DocumentPublisher(std::function<void()> on_change)
    : on_change_(std::move(on_change)),
      document_(DocumentBuilder(std::make_shared<SampleStore>()).publish()) {}

void DocumentPublisher::post(FeedStatus status, std::shared_ptr<const Document> document) {
  {
    const std::lock_guard lock(mutex_);
    status_ = std::move(status);
    // a document without other readers is destroyed after the lock is released
    if (document) document_.swap(document);
  }
  changed_.notify_all();
  if (on_change_) on_change_();
}

void DocumentPublisher::fail(std::string_view reason) noexcept {
  {
    const std::lock_guard lock(mutex_);
    status_.state = FeedState::Failed;
    try {
      status_.reason = reason;
    } catch (const std::bad_alloc&) {
      status_.reason.clear();
    }
  }
  changed_.notify_all();
  if (on_change_) on_change_();
}

std::shared_ptr<const Document> DocumentPublisher::document() const {
  const std::lock_guard lock(mutex_);
  return document_;
}

FeedStatus DocumentPublisher::status() const {
  const std::lock_guard lock(mutex_);
  return status_;
}

bool DocumentPublisher::wait(
    const std::function<bool(const FeedStatus&, const Document&)>& condition,
    double seconds) const {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, std::chrono::duration<double>(seconds),
                           [&] { return condition(status_, *document_); });
}

}  // namespace reprise::model
