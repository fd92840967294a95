// Helpers for tests of live sessions: a private runtime folder, collecting viewers, raw peers. All
// waits are for conditions; time limits only detect hangs.
#pragma once

#include <doctest/doctest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/environment_variable.hpp"
#include "support/temporary_folder.hpp"
#include "trace/live/live_client.hpp"
#include "trace/live/live_server.hpp"
#include "unit/trace/trace_samples.hpp"

namespace reprise::test {

inline constexpr std::chrono::seconds kHang{60};

// For conditions without a notification.
template <class Condition>
[[nodiscard]] bool eventually(Condition condition) {
  const auto limit = std::chrono::steady_clock::now() + kHang;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > limit) return false;
    std::this_thread::yield();
  }
  return true;
}

// A new folder that is $XDG_RUNTIME_DIR during its lifetime.
class RuntimeFolder : public TemporaryFolder {
  const EnvironmentVariable variable_{"XDG_RUNTIME_DIR", path().string()};
};

[[nodiscard]] inline unsigned mode_of(const std::filesystem::path& path) {
  struct stat status {};
  REQUIRE(::lstat(path.c_str(), &status) == 0);
  return status.st_mode & 07777;
}

[[nodiscard]] inline std::size_t open_descriptors() {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
    count += entry.path().empty() ? 0 : 1;
  return count;
}

// A server without effective time limits.
[[nodiscard]] inline trace::LiveServerDesc patient(std::string application) {
  trace::LiveServerDesc desc;
  desc.application = std::move(application);
  desc.handshake_deadline = std::chrono::hours(1);
  desc.linger = kHang;
  return desc;
}

[[nodiscard]] inline std::shared_ptr<const trace::Chunk> topology_chunk(std::uint32_t graph,
                                                                        std::uint64_t sequence) {
  trace::Records records;
  records.graph_versions = {sample_graph(graph, 3)};
  return std::make_shared<const trace::Chunk>(
      trace::make_chunk(trace::ChunkKind::Topology, records, sequence));
}
[[nodiscard]] inline std::shared_ptr<const trace::Chunk> sample_chunk(std::uint32_t samples,
                                                                      std::uint64_t sequence) {
  trace::Records records;
  records.sample_blocks = {sample_block(sequence, samples)};
  return std::make_shared<const trace::Chunk>(
      trace::make_chunk(trace::ChunkKind::Samples, records, sequence));
}

// A viewer with a thread of its own that stores what it receives.
class Collector {
 public:
  explicit Collector(std::string address, std::string token = {})
      : client_({std::move(address), std::move(token),
                 [this](std::shared_ptr<const trace::Chunk> chunk) {
                   const std::lock_guard lock(mutex_);
                   chunks_.push_back(std::move(chunk));
                   changed_.notify_all();
                 },
                 [this] {
                   const std::lock_guard lock(mutex_);
                   ended_ = true;
                   changed_.notify_all();
                 }}) {
    client_.start();
  }
  [[nodiscard]] bool wait_for_chunks(std::size_t count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kHang, [&] { return chunks_.size() >= count; });
  }
  [[nodiscard]] bool wait_for_end() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kHang, [&] { return ended_; });
  }
  [[nodiscard]] bool wait_until_live() {
    return eventually([this] { return client_.status().state != trace::LiveState::Connecting; }) &&
           client_.status().state == trace::LiveState::Live;
  }
  [[nodiscard]] std::vector<std::shared_ptr<const trace::Chunk>> chunks() const {
    const std::lock_guard lock(mutex_);
    return chunks_;
  }
  // In order of arrival.
  [[nodiscard]] std::vector<std::uint8_t> bytes() const {
    std::vector<std::uint8_t> out;
    for (const auto& chunk : chunks()) {
      const auto header = trace::encode_header(chunk->header);
      out.insert(out.end(), header.begin(), header.end());
      out.insert(out.end(), chunk->payload.begin(), chunk->payload.end());
    }
    return out;
  }
  trace::LiveClient& client() noexcept { return client_; }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::shared_ptr<const trace::Chunk>> chunks_;
  bool ended_ = false;
  trace::LiveClient client_;  // last member: its thread uses the others
};

// A peer that need not follow the protocol. Reads fail after kHang.
class RawPeer {
 public:
  explicit RawPeer(const std::filesystem::path& path)
      : socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
    connect(reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  }
  explicit RawPeer(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connect(reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  }
  RawPeer(RawPeer&& other) noexcept
      : socket_(std::exchange(other.socket_, -1)), connected_(other.connected_) {}
  RawPeer& operator=(RawPeer&&) = delete;
  ~RawPeer() {
    if (socket_ >= 0) ::close(socket_);
  }
  [[nodiscard]] bool connected() const noexcept { return connected_; }
  // The peer may close the connection during the write.
  void send(const std::vector<std::uint8_t>& bytes) const {
    std::size_t done = 0;
    while (done < bytes.size()) {
      const ssize_t n = ::send(socket_, bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
      if (n <= 0) return;
      done += static_cast<std::size_t>(n);
    }
  }
  // Reads until the peer closes the connection; false: it does not.
  [[nodiscard]] bool read_to_end(std::vector<std::uint8_t>& into) const {
    std::uint8_t buffer[4096];
    for (;;) {
      const ssize_t n = ::recv(socket_, buffer, sizeof(buffer), 0);
      if (n < 0 && errno != ECONNRESET && errno != EPIPE) return false;
      if (n <= 0) return true;
      into.insert(into.end(), buffer, buffer + n);
    }
  }
  [[nodiscard]] bool is_closed() const {
    std::vector<std::uint8_t> ignored;
    return read_to_end(ignored);
  }

 private:
  void connect(const sockaddr* address, socklen_t bytes) {
    const timeval limit{kHang.count(), 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    connected_ = ::connect(socket_, address, bytes) == 0;
  }
  int socket_;
  bool connected_ = false;
};

}  // namespace reprise::test
