// LiveFeed: feeds a live session to a DocumentPublisher. The LiveClient's thread decodes each chunk
// before it reads the next one. If the session sends faster than this process decodes, the session
// drops chunks and counts them, so this process's memory stays bounded. Long sessions drop their
// oldest replays. Received chunks are kept, compressed, for record_to(). Threads: run() on one
// thread, request() and record_to() from any.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

#include "model/document_builder.hpp"
#include "model/document_publisher.hpp"
#include "trace/live/live_client.hpp"
#include "trace/trace_file.hpp"

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
  // See TraceFeed::record_to().
  void record_to(const std::filesystem::path& path);

 private:
  void add_chunk(const std::shared_ptr<const trace::Chunk>& chunk);
  void keep(const std::shared_ptr<const trace::Chunk>& chunk);
  void on_end();
  [[nodiscard]] FeedStatus status() const;  // requires mutex_

  DocumentPublisher& publisher_;
  std::mutex record_mutex_;  // guards the next three members; acquired before mutex_
  // Topology, and the newest other chunks.
  std::deque<std::shared_ptr<const trace::Chunk>> kept_;
  std::uint64_t kept_bytes_ = 0;
  std::unique_ptr<trace::TraceFile> file_;  // null: no recording

  std::mutex mutex_;  // guards every member below except client_
  std::condition_variable_any changed_;
  DocumentBuilder builder_;
  std::optional<trace::LiveProfile> requested_;
  std::string recording_, record_error_;
  bool has_changes_ = false, has_ended_ = false;
  // declared last: its thread stops before the other members are destroyed
  trace::LiveClient client_;
};

}  // namespace reprise::model
