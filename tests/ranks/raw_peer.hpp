// Ends of control channels' connections that need not follow the protocol. Threads: one at a time.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "collectives/control/control_channel.hpp"
#include "collectives/control/control_connect.hpp"
#include "collectives/control/control_frame.hpp"
#include "collectives/control/control_handshake.hpp"

namespace reprise::test {

using namespace reprise::detail;

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

// One side of a connection that need not follow the protocol.
class RawPeer {
 public:
  // The side of rank 0, which listens.
  explicit RawPeer(const Listener& listener)
      : socket_(listener.accept()), port_(listener.port()), connected_(socket_ >= 0) {
    limit_time();
  }
  // The side of another rank.
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
    if (!read_all(header.data(), header.size())) return std::nullopt;
    FrameReader reader({header.data(), header.size()});
    Received received{static_cast<FrameType>(reader.u32()), std::string(reader.u32(), '\0')};
    if (!read_all(received.body.data(), received.body.size())) return std::nullopt;
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
  // The other end sees the end of the stream. Receiving continues.
  void finish() const { ::shutdown(socket_, SHUT_WR); }
  // Waits until the other end closes the connection; false: it does not.
  [[nodiscard]] bool is_closed() const {
    char buffer[4096];
    for (;;) {
      const ssize_t n = ::recv(socket_, buffer, sizeof(buffer), 0);
      if (n == 0 || (n < 0 && errno == ECONNRESET)) return true;
      if (n < 0 && errno != EINTR) return false;
    }
  }
  void cut() {
    if (socket_ >= 0) ::close(std::exchange(socket_, -1));
  }

 private:
  [[nodiscard]] bool read_all(char* to, std::size_t bytes) const {
    while (bytes != 0) {
      const ssize_t n = ::recv(socket_, to, bytes, 0);
      if (n == 0 || (n < 0 && errno != EINTR)) return false;
      if (n < 0) continue;
      to += n;
      bytes -= static_cast<std::size_t>(n);
    }
    return true;
  }
  void limit_time() const {
    const timeval limit{20, 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
  }

  int socket_;
  std::uint16_t port_;
  bool connected_ = false;
};

}  // namespace reprise::test
