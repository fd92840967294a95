// LiveClient: looks at a live session: connects, shows its token, checks what comes and hands on
// chunk after chunk. What goes wrong is a state with a reason, never an exception. Threads: either
// start() it, and callbacks come on a thread of its own, or poll() it from one thread, and they
// come there; request() and status() from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "trace/chunk.hpp"
#include "trace/live/live_request.hpp"

namespace reprise::trace {

enum class LiveState : std::uint8_t {
  Connecting,
  Live,         // greeted; chunks come
  Unreachable,  // nobody listens there
  Refused,      // a wrong token, or turned away before the greeting
  Closed,       // by the session, after the greeting
  Corrupt       // something came that no session of ours sends
};

struct LiveStatus {
  LiveState state = LiveState::Connecting;
  std::string reason;                  // of an end, for people
  SessionLine session;                 // once live
  std::optional<LiveProfile> allowed;  // the most that request() can get; empty: nothing
};

struct LiveClientDesc {
  std::string address;     // the path of a socket (with a '/'), or "host:port"
  std::string token = {};  // for TCP
  // A chunk whose header is right. What it throws of TraceError (read_chunk does) ends the
  // connection as Corrupt.
  std::function<void(std::shared_ptr<const Chunk>)> on_chunk = {};
  std::function<void(const LiveStatus&)> on_end = {};  // once
};

class LiveClient {
 public:
  // Connecting begins with start() or the first poll().
  explicit LiveClient(LiveClientDesc desc);
  LiveClient(const LiveClient&) = delete;
  LiveClient& operator=(const LiveClient&) = delete;
  ~LiveClient();  // no callback comes any more

  void start();
  // Takes what has come, without waiting; returns how many chunks that was.
  std::size_t poll();
  // Sent once live; what the session does not allow it ignores.
  void request(const LiveRequest& request);
  [[nodiscard]] LiveStatus status() const;

 private:
  class Link;
  std::unique_ptr<Link> link_;
  std::thread thread_;
};

}  // namespace reprise::trace
