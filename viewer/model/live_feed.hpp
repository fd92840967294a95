// LiveFeed: a live session onto a DocumentPublisher. Chunks become records on the thread of its
// LiveClient, which reads no further before that is done, so that a session that sends too fast
// drops chunks there, and counts them, rather than fill this process. Of one that goes on for long,
// the oldest replays are forgotten. Threads: run() on one; request() any.
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
  LiveFeed(LiveFeedDesc desc, DocumentPublisher& board);
  LiveFeed(const LiveFeed&) = delete;
  LiveFeed& operator=(const LiveFeed&) = delete;

  // Until the session ends or a stop is asked for.
  void run(const std::stop_token& stop);
  void request(trace::LiveProfile profile);

 private:
  void take(const trace::Chunk& chunk);
  void end();
  [[nodiscard]] FeedStatus status() const;  // with mutex_ held

  DocumentPublisher& board_;
  std::mutex mutex_;  // of all below but the client
  std::condition_variable_any changed_;
  DocumentBuilder builder_;
  std::optional<trace::LiveProfile> asked_;
  bool has_news_ = false, has_ended_ = false;
  trace::LiveClient client_;  // last: its thread ends before the rest goes
};

}  // namespace reprise::model
