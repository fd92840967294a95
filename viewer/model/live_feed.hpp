// LiveFeed: feeds live sessions to a DocumentPublisher: one, or those of all ranks of a job, which
// come and go. A rank on this machine is found by its socket once one of its job is connected. The
// LiveClient's thread decodes each chunk before it reads the next one. If a session sends faster
// than this process decodes, the session drops chunks and counts them, so this process's memory
// stays bounded. Long sessions drop their oldest replays. Received chunks are kept, compressed, for
// record_to() and save_to(). Threads: run() on one thread, the other members from any.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "model/document_builder.hpp"
#include "model/document_publisher.hpp"
#include "model/live_ranks.hpp"
#include "trace/live/live_client.hpp"
#include "trace/trace_file.hpp"

namespace reprise::model {

struct LiveFeedDesc {
  std::vector<std::string> addresses;  // at least one; several: of ranks of one job
  std::string token;
  std::uint64_t max_sample_bytes = 256u << 20;
};

class LiveFeed {
 public:
  LiveFeed(LiveFeedDesc desc, DocumentPublisher& publisher);
  LiveFeed(const LiveFeed&) = delete;
  LiveFeed& operator=(const LiveFeed&) = delete;

  // Returns when all sessions have ended or a stop is requested.
  void run(const std::stop_token& stop);
  void request(trace::LiveProfile profile);
  // See TraceFeed.
  void record_to(const std::filesystem::path& path);
  void save_to(const std::filesystem::path& path);

 private:
  struct Received {
    std::size_t connection = 0;
    std::shared_ptr<const trace::Chunk> chunk;
  };
  // A file, and the state of what was written to it.
  struct Recording {
    explicit Recording(const std::filesystem::path& path) : file({.path = path}) {}
    trace::TraceFile file;
    LiveRanks ranks;
    std::uint64_t sequence = 0;
  };
  void connect(std::string address);
  void connect_ranks();                             // those of the job that have started
  [[nodiscard]] bool connects_first_ranks() const;  // connect_ranks() is due for the first time
  void add_chunk(const Received& received);
  void keep(const Received& received);
  static void write(Recording& recording, const Received& received);
  void on_end();
  [[nodiscard]] FeedStatus status() const;  // requires mutex_

  const LiveFeedDesc desc_;
  DocumentPublisher& publisher_;
  std::mutex record_mutex_;  // guards the next three members; acquired before mutex_
  // Topology, and the newest other chunks.
  std::deque<Received> kept_;
  std::uint64_t kept_bytes_ = 0;
  std::unique_ptr<Recording> recorded_;  // null: no recording

  mutable std::mutex mutex_;  // guards every member below
  std::condition_variable_any changed_;
  DocumentBuilder builder_;
  LiveRanks ranks_;
  std::optional<trace::LiveProfile> requested_;
  std::string recording_, record_error_;
  bool has_changes_ = false, has_searched_ = false, is_opening_ = true;
  std::set<std::string> connected_;  // addresses, also of sessions that have ended
  std::size_t ended_ = 0;            // clients
  // declared last: their threads stop before the other members are destroyed
  std::vector<std::unique_ptr<trace::LiveClient>> clients_;
};

}  // namespace reprise::model
