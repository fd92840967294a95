// Jobs of channels within this process, for tests. Threads: one for each rank.
#pragma once

#include <doctest/doctest.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <future>
#include <mutex>
#include <optional>
#include <random>
#include <thread>

#include <reprise/error.hpp>

#include "collectives/control_channel.hpp"
#include "collectives/control_connect.hpp"
#include "collectives/control_frame.hpp"
#include "collectives/control_handshake.hpp"
#include "collectives/gather_table.hpp"

namespace reprise::test {

using namespace reprise::detail;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using Channels = std::vector<std::shared_ptr<ControlChannel>>;

inline constexpr auto kHang = 20s;

template <class Condition>
[[nodiscard]] bool eventually(Condition condition) {
  const auto limit = Clock::now() + kHang;
  while (!condition()) {
    if (Clock::now() > limit) return false;
    std::this_thread::sleep_for(1ms);
  }
  return true;
}

inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// A socket of this process that listens on `port` of the loopback address; 0: on any free one.
class Listener {
 public:
  explicit Listener(std::uint16_t port)
      : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int on = 1;
    ::setsockopt(socket_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    listens_ = ::bind(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0 &&
               ::listen(socket_, 16) == 0;
    socklen_t bytes = sizeof(address);
    ::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &bytes);
    port_ = ntohs(address.sin_port);
  }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  ~Listener() { ::close(socket_); }
  [[nodiscard]] bool listens() const noexcept { return listens_; }
  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  // The next connection; -1: none.
  [[nodiscard]] int accept() const { return ::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC); }
  // Accepts one connection, reads what comes first, and answers with `bytes`. Returns what it read.
  std::string exchange(const std::string& bytes) const {
    const int peer = accept();
    if (peer < 0) return {};
    std::string first(4096, '\0');
    first.resize(static_cast<std::size_t>(
        std::max<ssize_t>(0, ::recv(peer, first.data(), first.size(), 0))));
    ::send(peer, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    ::close(peer);
    return first;
  }

 private:
  int socket_;
  bool listens_ = false;
  std::uint16_t port_ = 0;
};

// A port that starts a range of free ones, in all likelihood.
inline std::uint16_t free_port() {
  for (;;) {
    const Listener first(0);
    if (first.port() > 65000) continue;
    const Listener second(static_cast<std::uint16_t>(first.port() + 1));
    const Listener third(static_cast<std::uint16_t>(first.port() + 2));
    if (first.listens() && second.listens() && third.listens()) return first.port();
  }
}

inline ControlChannelDesc desc_of(std::uint32_t rank, std::uint32_t size, std::uint16_t port) {
  ControlChannelDesc desc;
  desc.rank = rank;
  desc.size = size;
  desc.address = "127.0.0.1";
  desc.port = port;
  desc.secret = "of this job";
  desc.connect_limit = kHang;
  desc.gather_limit = kHang;
  desc.heartbeat = 10ms;
  return desc;
}

// Runs `work` for each rank in a thread of its own and rethrows the first exception.
inline void in_each_rank(std::uint32_t size, const std::function<void(std::uint32_t)>& work) {
  std::vector<std::future<void>> running;
  for (std::uint32_t rank = 0; rank < size; ++rank)
    running.push_back(std::async(std::launch::async, work, rank));
  for (auto& one : running) one.wait();
  for (auto& one : running) one.get();
}

inline Channels open_all(std::uint32_t size) {
  const std::uint16_t port = free_port();
  Channels channels(size);
  in_each_rank(size, [&](std::uint32_t rank) {
    channels[rank] = ControlChannel::open(desc_of(rank, size, port));
  });
  return channels;
}

// The error of `work`; fails the test without one.
template <class Work>
std::string error_of(Work work, ErrorCode expected = ErrorCode::RankLost) {
  try {
    work();
  } catch (const Error& error) {
    CHECK(error.code() == expected);
    return error.what();
  }
  FAIL_CHECK("no error");
  return {};
}

inline std::vector<std::uint32_t> all_of(std::uint32_t size) {
  std::vector<std::uint32_t> ranks(size);
  for (std::uint32_t i = 0; i < size; ++i) ranks[i] = i;
  return ranks;
}

// One side of a connection that need not follow the protocol.
class RawPeer {
 public:
  // That of rank 0, which listens.
  explicit RawPeer(const Listener& listener)
      : socket_(listener.accept()), port_(listener.port()), connected_(socket_ >= 0) {
    limit_time();
  }
  // That of another rank.
  explicit RawPeer(std::uint16_t port)
      : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)), port_(port) {
    limit_time();
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ =
        ::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
  }
  RawPeer(const RawPeer&) = delete;
  RawPeer& operator=(const RawPeer&) = delete;
  ~RawPeer() { cut(); }
  [[nodiscard]] bool connected() const noexcept { return connected_; }
  void send(const std::string& bytes) const {
    ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }
  // The next frame; nullopt: the other end closed the connection.
  struct Received {
    FrameType type;
    std::string body;
  };
  [[nodiscard]] std::optional<Received> receive() const {
    FrameHeader header{};
    if (::recv(socket_, header.data(), header.size(), MSG_WAITALL) != 8) return std::nullopt;
    FrameReader reader({header.data(), header.size()});
    Received received{static_cast<FrameType>(reader.u32()), std::string(reader.u32(), '\0')};
    const std::size_t size = received.body.size();
    if (size != 0 &&
        ::recv(socket_, received.body.data(), size, MSG_WAITALL) != static_cast<ssize_t>(size))
      return std::nullopt;
    return received;
  }
  // Introduces itself as `desc` says. False: rank 0 does not welcome it, or does not know the
  // secret.
  [[nodiscard]] bool join(const ControlChannelDesc& desc) const {
    RankHandshake handshake(desc.secret, port_, desc.rank, desc.size);
    send(*handshake.hello());
    const std::optional<Received> challenge = receive();
    if (!challenge || challenge->type != FrameType::Challenge) return false;
    try {
      send(*handshake.prove(challenge->body, control_name()));
    } catch (const MalformedFrame&) {
      return false;
    }
    const std::optional<Received> welcome = receive();
    return welcome && welcome->type == FrameType::Welcome;
  }
  // Welcomes the rank that introduces itself, as rank 0, with all ranks named in a table.
  [[nodiscard]] bool welcome(const ControlChannelDesc& desc) const {
    HubHandshake handshake(desc.secret, port_, desc.size);
    const std::optional<Received> hello = receive();
    if (!hello) return false;
    send(*handshake.challenge(hello->body));
    const std::optional<Received> proof = receive();
    if (!proof) return false;
    static_cast<void>(handshake.verify(proof->body));
    send(*FrameWriter(FrameType::Welcome).text("node0, pid 7").u64(11).u32(0).finish());
    FrameWriter table(FrameType::Table);
    for (std::uint32_t rank = 0; rank < desc.size; ++rank) table.u32(0);
    table.u32(desc.size);
    for (std::uint32_t rank = 0; rank < desc.size; ++rank)
      table.u32(rank).u32(1).text(rank == 0 ? "node0, pid 7" : "node1, pid 8").text("");
    send(*table.finish());
    return true;
  }
  // Waits until the other end closes the connection; false: it does not.
  [[nodiscard]] bool is_closed() const {
    char buffer[4096];
    for (;;) {
      const ssize_t n = ::recv(socket_, buffer, sizeof(buffer), 0);
      if (n == 0 || (n < 0 && errno == ECONNRESET)) return true;
      if (n < 0) return false;
    }
  }
  void cut() {
    if (socket_ >= 0) ::close(std::exchange(socket_, -1));
  }

 private:
  void limit_time() const {
    const timeval limit{20, 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
  }

  int socket_;
  std::uint16_t port_;
  bool connected_ = false;
};

// A job whose last rank is a RawPeer, so that its end can be abrupt.
struct JobWithRawRank {
  explicit JobWithRawRank(std::uint32_t size) : channels(size - 1) {
    std::promise<std::uint16_t> published;
    ControlChannelDesc hub = desc_of(0, size, 0);
    hub.publish = [&](std::uint16_t port) { published.set_value(port); };
    auto opening = std::async(std::launch::async, [&] { channels[0] = ControlChannel::open(hub); });
    const std::uint16_t port = published.get_future().get();
    std::vector<std::future<void>> others;
    for (std::uint32_t rank = 1; rank + 1 < size; ++rank) {
      others.push_back(std::async(std::launch::async, [&, rank] {
        ControlChannelDesc desc = desc_of(rank, size, port);
        desc.port_count = 1;
        channels[rank] = ControlChannel::open(desc);
      }));
    }
    raw = std::make_unique<RawPeer>(port);
    REQUIRE(raw->join(desc_of(size - 1, size, port)));
    opening.get();
    for (auto& other : others) other.get();
  }
  Channels channels;
  std::unique_ptr<RawPeer> raw;
};

}  // namespace reprise::test
