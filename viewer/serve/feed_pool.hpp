// FeedPool: the traces that clients show, each read once however many show it. Threads: drawing
// thread only; the feeds call their listeners on their own threads.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "model/trace_feed.hpp"

namespace reprise::viewer {

class FeedPool {
 public:
  // A feed of this target, which exists while somebody holds it. on_change is called until then.
  [[nodiscard]] std::shared_ptr<model::TraceFeed> open(model::TraceFeedDesc desc);

 private:
  struct Listeners {
    std::mutex mutex;  // guards `all`
    std::vector<std::function<void()>> all;
  };
  struct Entry {
    std::weak_ptr<model::TraceFeed> feed;
    std::shared_ptr<Listeners> listeners;
  };
  std::map<std::pair<std::string, std::string>, Entry> entries_;  // by target and token
};

}  // namespace reprise::viewer
