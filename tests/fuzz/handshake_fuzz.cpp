// Fuzzes both ends of a live connection with an arbitrary peer: the session's end on a socket file
// and on TCP, the viewer's end with an arbitrary session, and the parsers of addresses and names.
// Checks that nothing crashes, that no peer is welcomed without the token, that a connection ends
// when its peer closes it, and that only permitted requests are delivered. ctest runs it for half a
// minute (fuzz.handshake). To run it longer:
//   bin/reprise_fuzz_handshake -max_total_time=3600 -fork=2 FOLDER tests/fuzz/corpus/handshake
// FOLDER receives new inputs. Crashing inputs are written to crash-*; run them again with
// "bin/reprise_fuzz_handshake crash-*".
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <string>

#include "trace/live/connection.hpp"
#include "trace/live/live_client.hpp"
#include "trace/live/session_path.hpp"
#include "trace/live/tcp_address.hpp"
#include "trace/trace_error.hpp"

using namespace reprise::trace;

namespace {

constexpr const char* kToken = "secret";

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "broken promise: %s\n", what);
  std::abort();
}

std::shared_ptr<const Chunk> one_chunk(std::uint64_t sequence) {
  Records records;
  records.thread_names = {{7, "launches"}};
  return std::make_shared<const Chunk>(make_chunk(ChunkKind::Topology, records, sequence));
}

bool shows_the_token(std::span<const std::uint8_t> bytes) {
  const auto hello = encode_hello(kToken);
  return bytes.size() >= hello.size() && std::equal(hello.begin(), hello.end(), bytes.begin());
}

// Small enough for a socket's buffer, so one thread can play both sides.
std::span<const std::uint8_t> fitting(std::span<const std::uint8_t> bytes) {
  return bytes.first(std::min<std::size_t>(bytes.size(), 32u << 10));
}

void send_all(int socket, std::span<const std::uint8_t> bytes) {
  if (!bytes.empty())
    require(::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
                static_cast<ssize_t>(bytes.size()),
            "a socket takes it");
}

void session_end(std::span<const std::uint8_t> bytes, Connection::Door door) {
  bytes = fitting(bytes);
  std::array<int, 2> ends{};
  require(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0, "two sockets");
  asio::io_context io(1);
  Broadcast broadcast(1u << 20);
  static_cast<void>(broadcast.write(one_chunk(0)));
  bool welcome = false, over = false;
  ConnectionContext context{broadcast,
                            {1, "fuzzed", "host"},
                            kToken,
                            std::chrono::hours(1),
                            LiveProfile::Sampled,
                            {},
                            {},
                            {},
                            {}};
  context.on_request = [](const LiveRequest& request) {
    require(
        request.kind != LiveRequest::Kind::SetProfile || request.profile <= LiveProfile::Sampled,
        "no more than is allowed");
  };
  context.on_welcome = [&] { welcome = true; };
  context.on_refused_request = [] {};
  {
    StreamSocket socket(io, asio::generic::stream_protocol(AF_UNIX, 0), ends[0]);
    std::make_shared<Connection>(
        std::move(socket), door, context,
        [&](const std::shared_ptr<Connection>&, ConnectionEnd) { over = true; })
        ->start();
  }
  send_all(ends[1], bytes);
  io.poll();
  static_cast<void>(broadcast.write(one_chunk(1)));
  ::shutdown(ends[1], SHUT_WR);
  io.restart();
  io.poll();
  require(over && broadcast.viewers() == 0, "the connection ends when its peer leaves");
  require(!welcome || door == Connection::Door::Path || shows_the_token(bytes),
          "nobody comes in without the token");
  ::close(ends[1]);
}

// A listening socket for consecutive viewers.
class Impostor {
 public:
  Impostor() {
    std::string name = "/tmp/reprise_fuzz_XXXXXX";
    require(::mkdtemp(name.data()) != nullptr, "a folder");
    folder_ = name;
    path_ = name + "/socket";
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path_.c_str(), sizeof(address.sun_path) - 1);
    listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    require(::bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0 &&
                ::listen(listener_, 4) == 0,
            "a listener");
  }
  Impostor(const Impostor&) = delete;
  Impostor& operator=(const Impostor&) = delete;
  ~Impostor() {
    ::close(listener_);
    ::unlink(path_.c_str());
    ::rmdir(folder_.c_str());
  }
  [[nodiscard]] const std::string& path() const { return path_; }
  void answer(std::span<const std::uint8_t> bytes) const {
    const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    require(socket >= 0, "a viewer connects");
    send_all(socket, bytes);
    ::shutdown(socket, SHUT_WR);
    held_ = socket;
  }
  void leave() const { ::close(held_); }

 private:
  std::string folder_, path_;
  int listener_ = -1;
  mutable int held_ = -1;
};

void viewer_end(std::span<const std::uint8_t> bytes) {
  static const Impostor impostor;
  std::size_t chunks = 0;
  LiveClient client({impostor.path(), {}, [&](const std::shared_ptr<const Chunk>& chunk) {
                       ++chunks;
                       static_cast<void>(read_chunk(chunk->header, chunk->payload));
                     }});
  client.request({LiveRequest::Kind::SetProfile, LiveProfile::Every});
  client.poll();  // connects
  impostor.answer(fitting(bytes));
  for (int i = 0; i < 1'000 && (client.status().state == LiveState::Connecting ||
                                client.status().state == LiveState::Live);
       ++i)
    client.poll();
  impostor.leave();
  const LiveStatus status = client.status();
  require(status.state != LiveState::Connecting && status.state != LiveState::Live &&
              !status.reason.empty(),
          "an end with its reason");
  require(chunks == 0 || status.state == LiveState::Closed || status.state == LiveState::Corrupt,
          "chunks come from a session");
}

void words(std::span<const std::uint8_t> bytes) {
  const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  static_cast<void>(decode_session_line(text));
  if (const auto address = parse_tcp_address(text))
    require(!address->host.empty() && !address->port.empty(), "an address has a host and a port");
  if (const auto name = parse_session_file_name(text))
    require(name->pid != 0, "a session has a process");
  const std::string made = session_file_name({7, text}, 2);
  const auto parsed = parse_session_file_name(made);
  require(parsed && parsed->pid == 7 && made.find('/') == std::string::npos && made.size() <= 51,
          "a name that we make is one of ours");
  require(same_token(text, text) == (text.size() <= kMaxTokenBytes) || text.size() > kMaxTokenBytes,
          "a token is itself");
  require(!same_token(text, text + "x"), "a longer token is another");
  if (bytes.size() > kMaxRequestBytes) return;
  if (const auto request = decode_request(bytes)) {
    const auto again = encode_request(*request);
    require(decode_request(std::span(again).subspan(kRequestHeadBytes)) == request,
            "a request survives being written");
    const auto allowed = capped(*request, LiveProfile::Replays);
    require(allowed && (allowed->kind != LiveRequest::Kind::SetProfile ||
                        allowed->profile <= LiveProfile::Replays),
            "a cap caps");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::span<const std::uint8_t> bytes(data + 1, size - 1);
  switch (data[0] % 4) {
    case 0: session_end(bytes, Connection::Door::Path); break;
    case 1: session_end(bytes, Connection::Door::Tcp); break;
    case 2: viewer_end(bytes); break;
    default: words(bytes); break;
  }
  return 0;
}
