// TraceFeed: a trace, file or live session, as Documents that are made on a thread of its own and
// get better while one looks: a file's topology first, then its replays, then the statistics of its
// samples; a live session's as they come. What goes wrong is a status with a reason, never an
// exception; what was there before stays. A file that grows, or is replaced, is read on. Threads:
// every call may come from any thread, and none waits for a disk or a socket.
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
  Opening,  // nothing is known yet
  Loading,  // of a file; progress says how far
  Ready,    // a file, read to its end (and watched for more)
  Live,     // a session that sends
  Ended,    // a session that has closed: all that it sent is there
  Failed    // see reason; what was read before is there
};

struct FeedStatus {
  FeedState state = FeedState::Opening;
  double progress = 0;      // 0 to 1, of Loading
  std::string reason = {};  // for people: of Failed and Ended, and of a file that is cut off
  std::optional<trace::LiveProfile> allowed =
      {};  // live: the most that request_profile() gets; empty: nothing
  std::optional<trace::LiveProfile> asked = {};  // live: what was asked for last
};

struct TraceFeedDesc {
  std::string target;      // a file, the path of a session's socket, or "host:port"
  std::string token = {};  // for host:port
  std::uint64_t max_sample_bytes = 256u << 20;
  std::function<void()> on_change = {};  // there is a new document or status; on the feed's thread,
                                         // at most about 60 times a second
};

class TraceFeed {
 public:
  // Returns at once.
  explicit TraceFeed(TraceFeedDesc desc);
  TraceFeed(const TraceFeed&) = delete;
  TraceFeed& operator=(const TraceFeed&) = delete;
  ~TraceFeed();

  [[nodiscard]] std::shared_ptr<const Document> document() const;  // never null
  [[nodiscard]] FeedStatus status() const;
  [[nodiscard]] const std::string& target() const noexcept;
  [[nodiscard]] bool is_live()
      const noexcept;  // what was asked for is a session, whether or not it answers
  // Live: asks the session for a mode; it may be less than was asked for, or nothing.
  void request_profile(trace::LiveProfile profile);
  // Returns when the state is none of Opening and Loading, or for a session when the first document
  // with a graph is there, or after `seconds`: for pictures and tests. True: it is so.
  bool wait_until_ready(double seconds) const;

 private:
  class Worker;
  std::unique_ptr<Worker> worker_;
};

}  // namespace reprise::model
