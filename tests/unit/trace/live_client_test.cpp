#include <doctest/doctest.h>

#include <future>
#include <optional>

#include "support/counting_allocator.hpp"
#include "trace/live/session_directory.hpp"
#include "unit/trace/live_support.hpp"

using namespace reprise;
using namespace reprise::trace;

namespace {

// A listening socket that answers one connection with the given bytes, then closes it.
class Impostor {
 public:
  explicit Impostor(const std::filesystem::path& path, std::vector<std::uint8_t> answer)
      : listener_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
    REQUIRE(::bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0);
    REQUIRE(::listen(listener_, 1) == 0);
    thread_ = std::thread([this, answer = std::move(answer)] {
      const int socket = ::accept(listener_, nullptr, nullptr);
      std::uint8_t hello[kGreetingHeadBytes];
      if (::recv(socket, hello, sizeof(hello), MSG_WAITALL) > 0 && !answer.empty())
        ::send(socket, answer.data(), answer.size(), MSG_NOSIGNAL);
      ::close(socket);
    });
  }
  Impostor(const Impostor&) = delete;
  Impostor& operator=(const Impostor&) = delete;
  ~Impostor() {
    thread_.join();
    ::close(listener_);
  }

 private:
  int listener_;
  std::thread thread_;
};

LiveState end_with(std::vector<std::uint8_t> answer, std::size_t chunks = 0) {
  const test::RuntimeFolder runtime;
  const auto path = runtime.path() / "socket";
  const Impostor impostor(path, std::move(answer));
  test::Collector viewer(path);
  CHECK(viewer.wait_for_end());
  CHECK(viewer.chunks().size() == chunks);
  CHECK_FALSE(viewer.client().status().reason.empty());
  return viewer.client().status().state;
}

// A session's answer to an accepted viewer.
std::vector<std::uint8_t> welcome() {
  std::vector<std::uint8_t> out = encode_answer(LiveAnswer::Welcome, {}, {1, "x", "y"});
  const auto preamble = encode_preamble();
  out.insert(out.end(), preamble.begin(), preamble.end());
  return out;
}
std::vector<std::uint8_t> with_chunk(std::vector<std::uint8_t> out) {
  const auto chunk = test::topology_chunk(1, 0);
  const auto header = encode_header(chunk->header);
  out.insert(out.end(), header.begin(), header.end());
  out.insert(out.end(), chunk->payload.begin(), chunk->payload.end());
  return out;
}

}  // namespace

TEST_CASE("live client: a failed allocation ends the connection") {
  unsigned failed = 0;
  for (std::uint64_t n = 0; n < 16; ++n) {
    CAPTURE(n);
    const test::RuntimeFolder runtime;
    const auto path = runtime.path() / "socket";
    const Impostor impostor(path, with_chunk(with_chunk(welcome())));
    std::optional<test::FailingAllocations> failing;
    std::promise<void> ended;
    LiveClient client({.address = path.string(),
                       .on_chunk = [&](const auto&) { failing.emplace(n, 1); },
                       .on_end =
                           [&] {
                             failed += failing->failed() ? 1 : 0;
                             failing.reset();
                             ended.set_value();
                           }});
    client.start();
    REQUIRE(ended.get_future().wait_for(test::kHang) == std::future_status::ready);
    const LiveState state = client.status().state;
    CHECK((state == LiveState::Corrupt || state == LiveState::Closed));
  }
  CHECK(failed > 0);
}

TEST_CASE("live client: every kind of failure is a state") {
  CHECK(end_with({}) == LiveState::Refused);
  CHECK(end_with(std::vector<std::uint8_t>(100, 'x')) == LiveState::Corrupt);
  CHECK(end_with(encode_answer(LiveAnswer::WrongToken, {}, {})) == LiveState::Refused);
  CHECK(end_with(welcome()) == LiveState::Closed);
  CHECK(end_with(with_chunk(welcome()), 1) == LiveState::Closed);
  std::vector<std::uint8_t> bytes = welcome();
  bytes.back() = 'x';  // reserved, ignored
  bytes[bytes.size() - kPreambleBytes] = 'x';
  CHECK(end_with(bytes) == LiveState::Corrupt);
  bytes = with_chunk(welcome());
  bytes.resize(bytes.size() - 1);
  CHECK(end_with(bytes) == LiveState::Closed);
  bytes = welcome();
  bytes.resize(bytes.size() + ChunkHeader::kBytes, 0);
  CHECK(end_with(bytes) == LiveState::Corrupt);
}

TEST_CASE("live client: a header with a large size allocates no memory until data arrives") {
  ChunkHeader header;
  header.raw_bytes = header.compressed_bytes = ChunkHeader::kMaxCompressedBytes;
  std::vector<std::uint8_t> bytes = welcome();
  const auto encoded = encode_header(header);
  bytes.insert(bytes.end(), encoded.begin(), encoded.end());
  CHECK(end_with(bytes) == LiveState::Closed);
}

TEST_CASE("live client: a TraceError of the callback ends the connection") {
  const test::RuntimeFolder runtime;
  const auto path = runtime.path() / "socket";
  std::vector<std::uint8_t> bytes = with_chunk(welcome());
  bytes.back() ^= 0xff;
  const Impostor impostor(path, bytes);
  LiveClient client({path, {}, [](const std::shared_ptr<const Chunk>& chunk) {
                       static_cast<void>(read_chunk(chunk->header, chunk->payload));
                     }});
  CHECK(test::eventually([&] {
    client.poll();
    return client.status().state == LiveState::Corrupt;
  }));
}

TEST_CASE("live client: an address without a listener is Unreachable") {
  const test::RuntimeFolder runtime;
  for (const std::string& address :
       {(runtime.path() / "nothing").string(), std::string("/") + std::string(300, 'x'),
        std::string("nonsense"), std::string("127.0.0.1:1")}) {
    CAPTURE(address);
    test::Collector viewer(address);
    CHECK(viewer.wait_for_end());
    CHECK(viewer.client().status().state == LiveState::Unreachable);
  }
}

TEST_CASE("live client: poll() never waits and loses no chunk") {
  const test::RuntimeFolder runtime;
  LiveServer server(test::patient("digits"));
  server.write(test::topology_chunk(1, 0));
  std::vector<std::uint64_t> sequences;
  LiveClient client({server.path(), {}, [&](const std::shared_ptr<const Chunk>& chunk) {
                       sequences.push_back(chunk->header.sequence);
                     }});
  std::size_t counted = 0;
  REQUIRE(test::eventually([&] { return (counted += client.poll()) == 1; }));
  server.write(test::sample_chunk(10, 1));
  REQUIRE(test::eventually([&] { return (counted += client.poll()) == 2; }));
  CHECK(sequences == std::vector<std::uint64_t>{0, 1});
}
