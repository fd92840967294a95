// Fuzzes the control channel of ranks with arbitrary frames: the handshakes of both sides, a rank
// that rank 0 has welcomed, a rank 0 that has proved itself, and the texts that ranks exchange.
// Checks that nothing crashes, that nobody proves to know a secret that he does not know, and that
// each call ends. The first byte of an input selects the side; each frame is a byte for its type,
// two for its length, and its body. ctest runs it for half a minute (fuzz.control).
#include <cstdio>
#include <cstdlib>
#include <future>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/error.hpp>

#include "collectives/agreement.hpp"
#include "collectives/launch_reports.hpp"
#include "ranks/raw_peer.hpp"

using namespace reprise;
using namespace reprise::detail;
using reprise::test::Listener;
using reprise::test::RawPeer;
using namespace std::chrono_literals;

namespace {

constexpr std::uint32_t kSize = 2;

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "broken promise: %s\n", what);
  std::abort();
}

struct RawFrame {
  FrameType type;
  std::string_view body;
};

std::vector<RawFrame> frames_in(std::string_view bytes) {
  std::vector<RawFrame> frames;
  while (bytes.size() >= 3) {
    const auto type = static_cast<unsigned char>(bytes[0]);
    const std::size_t length = static_cast<unsigned char>(bytes[1]) |
                               std::size_t{static_cast<unsigned char>(bytes[2])} << 8;
    frames.push_back({static_cast<FrameType>(type), bytes.substr(3, length)});
    bytes.remove_prefix(std::min(bytes.size(), 3 + length));
  }
  return frames;
}

// Type 0: the body is sent as it is, without a header.
std::string bytes_of(std::string_view input) {
  std::string bytes;
  for (const RawFrame& frame : frames_in(input)) {
    std::string head = *FrameWriter(frame.type).finish();
    for (std::size_t i = 0; i < 4; ++i) head[4 + i] = static_cast<char>(frame.body.size() >> 8 * i);
    if (static_cast<std::uint32_t>(frame.type) != 0) bytes += head;
    bytes += frame.body;
  }
  return bytes;
}

void unknown_rank(std::string_view input) {
  HubHandshake hub("secret", 7000, 4);
  for (const RawFrame& frame : frames_in(input)) {
    try {
      if (frame.type == FrameType::Proof) {
        static_cast<void>(hub.verify(frame.body));
        require(false, "nobody is welcome without the secret");
      }
      static_cast<void>(hub.challenge(frame.body));
      require(hub.rank() > 0 && hub.rank() < 4, "a rank of the job");
    } catch (const MalformedFrame&) {
    }
  }
}

void unknown_hub(std::string_view input) {
  RankHandshake rank("secret", 7000, 1, 4);
  for (const RawFrame& frame : frames_in(input)) {
    try {
      static_cast<void>(rank.prove(frame.body, "name"));
      require(false, "nobody is rank 0 without the secret");
    } catch (const MalformedFrame&) {
      require(!rank.is_proved(), "nobody is rank 0 without the secret");
    }
  }
}

ControlChannelDesc desc_of(std::uint32_t rank, std::uint16_t port) {
  ControlChannelDesc desc;
  desc.rank = rank;
  desc.size = kSize;
  desc.address = "127.0.0.1";
  desc.port = port;
  desc.port_count = 1;
  desc.secret = "secret";
  desc.gather_limit = 20ms;
  desc.heartbeat = 5ms;
  return desc;
}

// Sends the frames while the other side calls all_gather, and waits for its end.
void exchange(const std::shared_ptr<ControlChannel>& channel, RawPeer& raw,
              std::string_view input) {
  auto gathered = std::async(std::launch::async, [&] {
    const std::vector<std::uint32_t> members = {0, 1};
    try {
      require(channel->all_gather(7, members, "own").size() == kSize, "a message of each member");
    } catch (const Error& error) {
      require(error.code() == ErrorCode::RankLost || error.code() == ErrorCode::RankMismatch,
              "a failure of the others");
    }
  });
  raw.send(bytes_of(input));
  raw.finish();
  require(raw.is_closed(), "the connection ends when its peer ends it");
  gathered.get();
  require(channel->progress().size() == kSize, "a table of all ranks");
  static_cast<void>(channel->take_clock_exchanges());
}

void known_rank(std::string_view input) {
  std::promise<std::uint16_t> published;
  ControlChannelDesc desc = desc_of(0, 0);
  desc.publish = [&](std::uint16_t port) { published.set_value(port); };
  auto opening = std::async(std::launch::async, [&] { return ControlChannel::open(desc); });
  const std::uint16_t port = published.get_future().get();
  RawPeer raw(port);
  require(raw.join(desc_of(1, port)), "who knows the secret is welcome");
  exchange(opening.get(), raw, input);
}

void known_hub(std::string_view input) {
  static const Listener listener(0);
  const ControlChannelDesc desc = desc_of(1, listener.port());
  auto opening = std::async(std::launch::async, [&] { return ControlChannel::open(desc); });
  RawPeer raw(listener);
  require(raw.welcome(desc), "a rank introduces itself");
  exchange(opening.get(), raw, input);
}

void texts(std::string_view input) {
  LaunchReports reports;
  static_cast<void>(reports.take(std::string(input), 1s, LaunchReports::Clock::now()));
  try {
    const std::vector<ComparedCommand> commands = decode(input);
    std::vector<RankCommands> ranks;
    for (std::uint32_t rank = 0; rank < 3; ++rank) ranks.push_back({rank, &commands});
    for (const RankCommands& other : ranks) static_cast<void>(find_mismatch(ranks.front(), other));
    static_cast<void>(find_deadlock(ranks));
    const std::string again = encode(commands);
    require(encode(decode(again)) == again, "what is written can be read");
  } catch (const Error& error) {
    require(error.code() == ErrorCode::RankMismatch, "another version of the list");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view input(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 5) {
    case 0: unknown_rank(input); break;
    case 1: unknown_hub(input); break;
    case 2: known_rank(input); break;
    case 3: known_hub(input); break;
    default: texts(input); break;
  }
  return 0;
}
