// LiveFeed: feeds a live session to a DocumentPublisher. The LiveClient's thread decodes each chunk
// before it reads the next one. If the session sends faster than this process decodes, the session
// drops chunks and counts them, so this process's memory stays bounded. Long sessions drop their
// oldest replays. Threads: run() on one thread, request() from any.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

#include "model/document_builder.hpp"
#include "model/document_publisher.hpp"
#include "trace/live/live_client.hpp"

namespace reprise::model {

struct LiveFeedDesc {
  std::string address, token;
  std::uint64_t max_sample_bytes = 256u << 20;
};

class LiveFeed {
 public:
  LiveFeed(LiveFeedDesc desc, DocumentPublisher& publisher);
  LiveFeed(const LiveFeed&) = delete;
  LiveFeed& operator=(const LiveFeed&) = delete;

  // Returns when the session has ended or a stop is requested.
  void run(const std::stop_token& stop);
  void request(trace::LiveProfile profile);

 private:
  void add_chunk(const trace::Chunk& chunk);
  void on_end();
  [[nodiscard]] FeedStatus status() const;  // requires mutex_

  DocumentPublisher& publisher_;
  std::mutex mutex_;  // guards every member below except client_
  std::condition_variable_any changed_;
  DocumentBuilder builder_;
  std::optional<trace::LiveProfile> requested_;
  bool has_changes_ = false, has_ended_ = false;
  // declared last: its thread stops before the other members are destroyed
  trace::LiveClient client_;
};

}  // namespace reprise::model
