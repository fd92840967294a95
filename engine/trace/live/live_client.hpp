// LiveClient: receives the trace of a live session. It connects, presents its token, validates
// incoming data and passes each chunk to a callback. Failures become a LiveStatus with a reason,
// never an exception. Threads: after start(), callbacks run on a thread of the client; with poll()
// they run on the polling thread. request() and status() may be called from any thread.
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
  Live,         // handshake complete; chunks arrive
  Unreachable,  // no session listens at the address
  Refused,      // wrong token, or the session closed the connection during the handshake
  Closed,       // the session closed the connection after the handshake
  Corrupt       // malformed data
};

struct LiveStatus {
  LiveState state = LiveState::Connecting;
  std::string reason;                  // of the end, as text for users
  SessionLine session;                 // valid while Live and after
  std::optional<LiveProfile> allowed;  // highest level that request() can get; empty: none
};

struct LiveClientDesc {
  std::string address;     // path of a socket (contains '/') or "host:port"
  std::string token = {};  // required for TCP
  // Receives each chunk with a valid header. An exception thrown by the callback (for example by
  // read_chunk) ends the connection as Corrupt.
  std::function<void(std::shared_ptr<const Chunk>)> on_chunk = {};
  std::function<void()> on_end = {};  // called once, after status() has changed; must not throw
};

class LiveClient {
 public:
  // Connects on start() or on the first poll().
  explicit LiveClient(LiveClientDesc desc);
  LiveClient(const LiveClient&) = delete;
  LiveClient& operator=(const LiveClient&) = delete;
  ~LiveClient();  // no callback runs after the destructor returns

  void start();
  // Processes the data received so far without waiting; returns the number of chunks.
  std::size_t poll();
  // Sent as soon as the client is Live. The session ignores requests that it does not allow.
  void request(const LiveRequest& request);
  [[nodiscard]] LiveStatus status() const;

 private:
  class Link;
  std::unique_ptr<Link> link_;
  std::thread thread_;
};

}  // namespace reprise::trace
