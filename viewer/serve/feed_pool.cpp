#include "serve/feed_pool.hpp"

#include <utility>

namespace reprise::viewer {

std::shared_ptr<model::TraceFeed> FeedPool::open(model::TraceFeedDesc desc) {
  std::erase_if(entries_, [](const auto& each) { return each.second.feed.expired(); });
  Entry& entry = entries_[{desc.target, desc.token}];
  if (auto feed = entry.feed.lock()) {
    const model::FeedState state = feed->status().state;
    // One that ended is opened again.
    if (state != model::FeedState::Failed && state != model::FeedState::Ended) {
      const std::lock_guard lock(entry.listeners->mutex);
      entry.listeners->all.push_back(std::move(desc.on_change));
      return feed;
    }
  }
  entry.listeners = std::make_shared<Listeners>();
  entry.listeners->all.push_back(std::move(desc.on_change));
  desc.on_change = [listeners = entry.listeners] {
    const std::lock_guard lock(listeners->mutex);
    for (const auto& listener : listeners->all) listener();
  };
  auto feed = std::make_shared<model::TraceFeed>(std::move(desc));
  entry.feed = feed;
  return feed;
}

}  // namespace reprise::viewer
