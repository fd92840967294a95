// TraceFeed: a trace file or live session as Documents that a background thread publishes
// incrementally. For a file: first the topology, then the replays, then the sample statistics. For
// a live session: records as they arrive. Failures become a status with a reason, never an
// exception, and the last document stays available. The feed follows a file that grows or is
// replaced. Threads: any; only record_to() and save_to() wait for a disk.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "model/document.hpp"
#include "trace/live/live_request.hpp"

namespace reprise::model {

enum class FeedState : std::uint8_t {
  Opening,  // no information yet
  Loading,  // reading a file; see progress
  Ready,    // the whole file is read; the feed watches it for changes
  Live,     // connected to a session
  Ended,    // the session closed; the document has everything it sent
  Failed    // see reason; the last document stays
};

struct FeedStatus {
  FeedState state = FeedState::Opening;
  double progress = 0;      // of Loading, 0 to 1
  std::string reason = {};  // human-readable; of Failed, Ended and damaged files
  // live: the maximum that request_profile() can obtain; empty: nothing
  std::optional<trace::LiveProfile> allowed = {};
  std::optional<trace::LiveProfile> requested_profile = {};  // live: the latest request
  std::string recording = {};     // live: the file that record_to() writes; empty: none
  std::string record_error = {};  // live: why the recording stopped
};

struct TraceFeedDesc {
  // A file, the path of a session's socket, or "host:port". Sessions of several ranks of a job are
  // separated by commas.
  std::string target;
  std::string token = {};  // for host:port
  std::uint64_t max_sample_bytes = 256u << 20;
  // Called on the feed's thread after a new document or status, at most about 60 times a second.
  std::function<void()> on_change = {};
  // Otherwise request_profile() has no effect, and FeedStatus::allowed is empty.
  bool may_request_profile = true;
};

class TraceFeed {
 public:
  // Returns immediately; opening continues in the background.
  explicit TraceFeed(TraceFeedDesc desc);
  TraceFeed(const TraceFeed&) = delete;
  TraceFeed& operator=(const TraceFeed&) = delete;
  ~TraceFeed();

  [[nodiscard]] std::shared_ptr<const Document> document() const;  // never null
  [[nodiscard]] FeedStatus status() const;
  [[nodiscard]] const std::string& target() const noexcept;
  // the target names a session, reachable or not
  [[nodiscard]] bool is_live() const noexcept;
  // Live only: requests a profiling mode. The session may grant less, or nothing.
  void request_profile(trace::LiveProfile profile);
  // Live only: writes what was received (of a long session the newest part) to a new trace file,
  // and then what arrives. Writes to the disk. Throws TraceError, also if the file exists.
  void record_to(const std::filesystem::path& path);
  // Live only: writes what was received to a trace file, which is replaced. Throws TraceError.
  void save_to(const std::filesystem::path& path);
  // Blocks for at most `seconds` until a file leaves Opening and Loading, or until a session has
  // published a document with a graph. Returns whether that is so. For screenshots and tests.
  bool wait_until_ready(double seconds) const;

 private:
  class Worker;
  std::unique_ptr<Worker> worker_;
};

}  // namespace reprise::model
