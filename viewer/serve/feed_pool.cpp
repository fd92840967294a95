#include "serve/feed_pool.hpp"

#include <algorithm>
#include <utility>

namespace reprise::viewer {

std::shared_ptr<model::TraceFeed> FeedPool::open(model::TraceFeedDesc desc) {
  std::erase_if(entries_, [](const Entry& entry) { return entry.feed.expired(); });
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    return entry.target == desc.target && entry.token == desc.token;
  });
  if (found != entries_.end()) {
    const auto feed = found->feed.lock();
    const model::FeedState state = feed ? feed->status().state : model::FeedState::Failed;
    // One that ended is opened again.
    if (state != model::FeedState::Failed && state != model::FeedState::Ended) {
      const std::lock_guard lock(found->listeners->mutex);
      found->listeners->all.push_back(std::move(desc.on_change));
      return feed;
    }
    entries_.erase(found);
  }
  auto listeners = std::make_shared<Listeners>();
  listeners->all.push_back(std::move(desc.on_change));
  desc.on_change = [listeners] {
    const std::lock_guard lock(listeners->mutex);
    for (const auto& listener : listeners->all) listener();
  };
  Entry entry{.target = desc.target, .token = desc.token, .feed = {}, .listeners = listeners};
  auto feed = std::make_shared<model::TraceFeed>(std::move(desc));
  entry.feed = feed;
  entries_.push_back(std::move(entry));
  return feed;
}

}  // namespace reprise::viewer
