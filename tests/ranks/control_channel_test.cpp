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
#include <random>
#include <thread>

#include <reprise/error.hpp>

#include "collectives/control_channel.hpp"
#include "collectives/control_connect.hpp"
#include "collectives/control_frame.hpp"
#include "collectives/gather_table.hpp"

using namespace reprise;
using namespace reprise::detail;

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using Channels = std::vector<std::shared_ptr<ControlChannel>>;

constexpr auto kHang = 20s;

template <class Condition>
[[nodiscard]] bool eventually(Condition condition) {
  const auto limit = Clock::now() + kHang;
  while (!condition()) {
    if (Clock::now() > limit) return false;
    std::this_thread::sleep_for(1ms);
  }
  return true;
}

bool has(const std::string& text, const std::string& part) {
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
  // Accepts one connection and answers with `bytes`.
  void answer(const std::string& bytes) const {
    const int peer = ::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
    if (peer < 0) return;
    char first = 0;
    ::recv(peer, &first, 1, 0);
    ::send(peer, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    ::close(peer);
  }

 private:
  int socket_;
  bool listens_ = false;
  std::uint16_t port_ = 0;
};

// A port that starts a range of free ones, in all likelihood.
std::uint16_t free_port() {
  for (;;) {
    const Listener first(0);
    if (first.port() > 65000) continue;
    const Listener second(static_cast<std::uint16_t>(first.port() + 1));
    const Listener third(static_cast<std::uint16_t>(first.port() + 2));
    if (first.listens() && second.listens() && third.listens()) return first.port();
  }
}

ControlChannelDesc desc_of(std::uint32_t rank, std::uint32_t size, std::uint16_t port) {
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
void in_each_rank(std::uint32_t size, const std::function<void(std::uint32_t)>& work) {
  std::vector<std::future<void>> running;
  for (std::uint32_t rank = 0; rank < size; ++rank)
    running.push_back(std::async(std::launch::async, work, rank));
  for (auto& one : running) one.wait();
  for (auto& one : running) one.get();
}

Channels open_all(std::uint32_t size) {
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

std::vector<std::uint32_t> all_of(std::uint32_t size) {
  std::vector<std::uint32_t> ranks(size);
  for (std::uint32_t i = 0; i < size; ++i) ranks[i] = i;
  return ranks;
}

// A peer of the hub that need not follow the protocol.
class RawPeer {
 public:
  explicit RawPeer(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const timeval limit{20, 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
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
  [[nodiscard]] bool is_welcome() const {
    FrameHeader header{};
    if (::recv(socket_, header.data(), header.size(), MSG_WAITALL) != 8) return false;
    return FrameReader({header.data(), header.size()}).u32() ==
           static_cast<std::uint32_t>(FrameType::Welcome);
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
  int socket_;
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
    raw->send(control_greeting(desc_of(size - 1, size, port)));
    opening.get();
    for (auto& other : others) other.get();
  }
  Channels channels;
  std::unique_ptr<RawPeer> raw;
};

}  // namespace

TEST_CASE("control channel: all_gather returns the messages in the order of the members") {
  const Channels channels = open_all(4);
  in_each_rank(4, [&](std::uint32_t rank) {
    CHECK(channels[rank]->rank() == rank);
    CHECK(channels[rank]->size() == 4);
    const auto got = channels[rank]->all_gather(1, all_of(4), std::string(rank, 'x'));
    CHECK(got == std::vector<std::string>{"", "x", "xx", "xxx"});
    const std::vector<std::uint32_t> pair =
        rank % 2 == 0 ? std::vector<std::uint32_t>{0, 2} : std::vector<std::uint32_t>{1, 3};
    // One number for two groups would match them with each other.
    const auto of_pair = channels[rank]->all_gather(2 + rank % 2, pair, std::to_string(rank));
    CHECK(of_pair == std::vector<std::string>{std::to_string(pair[0]), std::to_string(pair[1])});
    CHECK(channels[rank]->all_gather(9, std::vector{rank}, "own") ==
          std::vector<std::string>{"own"});
  });
}

TEST_CASE("control channel: groups are independent, whatever the order of their calls") {
  const Channels channels = open_all(2);
  // Rank 0 calls group 1 first and rank 1 calls group 2 first, so both are open at once.
  in_each_rank(2, [&](std::uint32_t rank) {
    in_each_rank(2, [&](std::uint32_t thread) {
      const std::uint64_t group = (rank + thread) % 2;
      for (int i = 0; i < 100; ++i) {
        const std::string message = std::to_string(group) + "/" + std::to_string(i);
        CHECK(channels[rank]->all_gather(group, all_of(2), message) ==
              std::vector<std::string>{message, message});
      }
    });
  });
}

TEST_CASE("control channel: 8 ranks, 1,000 gathers") {
  const Channels channels = open_all(8);
  std::atomic<int> wrong = 0;
  in_each_rank(8, [&](std::uint32_t rank) {
    for (std::uint32_t i = 0; i < 1000; ++i) {
      const auto got = channels[rank]->all_gather(7, all_of(8), std::to_string(i * 8 + rank));
      for (std::uint32_t other = 0; other < 8; ++other)
        if (got.size() != 8 || got[other] != std::to_string(i * 8 + other)) ++wrong;
    }
  });
  CHECK(wrong == 0);
}

TEST_CASE("control channel: large messages, and messages over the limit") {
  const Channels channels = open_all(2);
  const std::string large(4U << 20, 'z');
  in_each_rank(2, [&](std::uint32_t rank) {
    const auto got = channels[rank]->all_gather(0, all_of(2), large);
    CHECK(got == std::vector<std::string>{large, large});
  });
  CHECK(has(error_of(
                [&] {
                  static_cast<void>(
                      channels[0]->all_gather(0, all_of(2), std::string(8U << 20, 'z')));
                },
                ErrorCode::InvalidArgument),
            "too long"));
  for (const std::vector<std::uint32_t>& members :
       {std::vector<std::uint32_t>{}, {1}, {1, 0}, {0, 0}, {0, 2}}) {
    error_of([&] { static_cast<void>(channels[0]->all_gather(0, members, "")); },
             ErrorCode::InvalidArgument);
  }
}

TEST_CASE("control channel: different members of one group are an error for both") {
  const Channels channels = open_all(3);
  in_each_rank(2, [&](std::uint32_t rank) {
    const auto members = rank == 0 ? all_of(2) : all_of(3);
    const std::string text =
        error_of([&] { static_cast<void>(channels[rank]->all_gather(5, members, "")); },
                 ErrorCode::RankMismatch);
    CHECK(has(text, "rank 0 ("));
    CHECK(has(text, "rank 1 ("));
    CHECK(has(text, "group 5"));
  });
}

TEST_CASE("control channel: a job of one rank has no sockets") {
  ControlChannelDesc desc;
  std::vector<int> handled;
  const auto channel = ControlChannel::open(desc);
  CHECK(channel->all_gather(0, std::vector{0U}, "alone") == std::vector<std::string>{"alone"});
  channel->report_progress("half");
  CHECK(channel->progress().at(0).report == "half");
  std::promise<std::string> reason;
  const auto handler = channel->on_abort([&](const std::string& why) { reason.set_value(why); });
  channel->abort("enough");
  CHECK(reason.get_future().get() == "enough");
  CHECK(has(error_of([&] { static_cast<void>(channel->all_gather(0, std::vector{0U}, "")); }),
            "enough"));
}

TEST_CASE("control channel: an abort of any rank ends the blocked calls of all") {
  for (const std::uint32_t aborting : {0U, 2U}) {
    CAPTURE(aborting);
    const Channels channels = open_all(3);
    std::atomic<int> handled = 0;
    std::vector<std::shared_ptr<const void>> handlers(3);
    in_each_rank(3, [&](std::uint32_t rank) {
      handlers[rank] = channels[rank]->on_abort([&](const std::string& reason) {
        if (reason == "a kernel failed") ++handled;
      });
      if (rank == aborting) {
        channels[rank]->abort("a kernel failed");
        channels[rank]->abort("another reason");
      }
      CHECK(has(error_of([&] {
                  static_cast<void>(channels[rank]->all_gather(0, all_of(3), "never complete"));
                }),
                "a kernel failed"));
      CHECK(channels[rank]->abort_reason() == "a kernel failed");
    });
    CHECK(eventually([&] { return handled == 3; }));
    std::promise<void> late;
    const auto after =
        channels[1]->on_abort([&](const std::string& /*reason*/) { late.set_value(); });
    CHECK(late.get_future().wait_for(kHang) == std::future_status::ready);
    CHECK(handled == 3);
  }
}

TEST_CASE("control channel: an abort reaches the others though its rank leaves at once") {
  Channels channels = open_all(3);
  channels[1]->abort("out of memory");
  channels[1].reset();
  for (const int rank : {0, 2})
    CHECK(eventually([&] { return channels[rank]->abort_reason() == "out of memory"; }));
}

TEST_CASE("control channel: a removed handler does not run, and removal waits for a running one") {
  const Channels channels = open_all(2);
  std::atomic<bool> removed_ran = false, finished = false;
  std::promise<void> started, may_end;
  auto removed = channels[1]->on_abort([&](const std::string&) { removed_ran = true; });
  auto running = channels[1]->on_abort([&](const std::string&) {
    started.set_value();
    may_end.get_future().wait();
    finished = true;
  });
  std::shared_ptr<const void> own;
  std::promise<void> own_removed;
  own = channels[1]->on_abort([&](const std::string&) {
    own.reset();  // in the handler itself
    own_removed.set_value();
  });
  removed.reset();
  channels[0]->abort("stop");
  started.get_future().wait();
  auto removal = std::async(std::launch::async, [&] {
    running.reset();
    return finished.load();
  });
  CHECK(removal.wait_for(50ms) == std::future_status::timeout);
  may_end.set_value();
  CHECK(removal.get());
  CHECK(own_removed.get_future().wait_for(kHang) == std::future_status::ready);
  CHECK(!removed_ran);
}

TEST_CASE("control channel: a handler may destroy the channel") {
  Channels channels = open_all(2);
  std::promise<void> destroyed;
  auto handler = channels[1]->on_abort([&](const std::string&) {
    channels[1].reset();
    destroyed.set_value();
  });
  channels[0]->abort("stop");
  CHECK(destroyed.get_future().wait_for(kHang) == std::future_status::ready);
  handler.reset();
}

TEST_CASE("control channel: the cut connection of a rank aborts the job with its name") {
  JobWithRawRank job(4);
  std::atomic<int> handled = 0;
  std::vector<std::shared_ptr<const void>> handlers;
  for (const auto& channel : job.channels)
    handlers.push_back(channel->on_abort([&](const std::string&) { ++handled; }));
  const auto before = Clock::now();
  in_each_rank(3, [&](std::uint32_t rank) {
    if (rank == 0) job.raw->cut();
    const std::string text = error_of([&] {
      static_cast<void>(job.channels[rank]->all_gather(0, all_of(3), ""));
      static_cast<void>(job.channels[rank]->all_gather(0, all_of(4), ""));
    });
    CHECK(has(text, "rank 3 ("));
    CHECK(has(text, "pid " + std::to_string(::getpid())));
    CHECK(has(text, "ended without leaving the job"));
  });
  CHECK(Clock::now() - before < 2s);
  CHECK(eventually([&] { return handled == 3; }));
  CHECK(eventually([&] { return !job.channels[1]->progress().at(3).is_connected; }));
  CHECK(job.channels[1]->progress().at(2).is_connected);
}

TEST_CASE("control channel: malformed messages of a rank abort the job") {
  for (const std::string& bytes :
       {std::string("\x63\0\0\0\0\0\0\0", 8), std::string("\x04\0\0\0\x01\0\0\0x", 9),
        std::string("\x07\0\0\0\xff\xff\xff\xff", 8), *GatherTable::call(0, 0, {0, 1}, "of others"),
        *GatherTable::call(0, 0, {2, 1}, "not ascending")}) {
    JobWithRawRank job(3);
    job.raw->send(bytes);
    CHECK(eventually([&] { return !job.channels[1]->abort_reason().empty(); }));
    CHECK(has(job.channels[1]->abort_reason(), "rank 2 ("));
    CHECK(has(job.channels[1]->abort_reason(), "malformed"));
  }
}

TEST_CASE("control channel: the end of rank 0 aborts the other ranks with its name") {
  const std::uint16_t port = free_port();
  // A hub that welcomes rank 1 and ends.
  const Listener hub(port);
  ControlChannelDesc desc = desc_of(1, 2, port);
  auto opening = std::async(std::launch::async, [&] { return ControlChannel::open(desc); });
  hub.answer(*FrameWriter(FrameType::Welcome)
                  .u64(kControlMagic)
                  .u32(kControlVersion)
                  .text("node0, pid 7")
                  .finish());
  std::string text;
  try {
    const auto channel = opening.get();
    text = error_of([&] { static_cast<void>(channel->all_gather(0, all_of(2), "")); });
  } catch (const Error& error) {
    text = error.what();  // the end came before open() returned
  }
  CHECK(has(text, "rank 0 (node0, pid 7) ended without leaving the job"));
}

TEST_CASE("control channel: after the limit, an error names the ranks that did not call") {
  const std::uint16_t port = free_port();
  Channels channels(4);
  in_each_rank(4, [&](std::uint32_t rank) {
    ControlChannelDesc desc = desc_of(rank, 4, port);
    desc.gather_limit = 50ms;
    channels[rank] = ControlChannel::open(desc);
  });
  in_each_rank(2, [&](std::uint32_t rank) {
    const std::string text =
        error_of([&] { static_cast<void>(channels[rank]->all_gather(3, all_of(4), "")); });
    CHECK(!has(text, "rank 0 ("));
    CHECK(!has(text, "rank 1 ("));
    CHECK(has(text, "rank 2 ("));
    CHECK(has(text, "rank 3 ("));
    CHECK(has(text, "50 ms"));
  });
  // The call has failed for all, and the next one of the group succeeds.
  CHECK(has(error_of([&] { static_cast<void>(channels[2]->all_gather(3, all_of(4), "")); }),
            "rank 3 ("));
  CHECK(has(error_of([&] { static_cast<void>(channels[3]->all_gather(3, all_of(4), "")); }),
            "rank 3 ("));
  CHECK(channels[0]->abort_reason().empty());
  in_each_rank(4, [&](std::uint32_t rank) {
    CHECK(channels[rank]->all_gather(3, all_of(4), "again").size() == 4);
  });
}

TEST_CASE("control channel: calls that need a rank which has left fail at once") {
  Channels channels = open_all(4);
  auto blocked = std::async(std::launch::async, [&] {
    return error_of([&] { static_cast<void>(channels[0]->all_gather(0, all_of(4), "")); });
  });
  // Its message is sent before the goodbye, so the others get it.
  in_each_rank(2, [&](std::uint32_t i) {
    const std::uint32_t rank = 2 + i;
    CHECK(channels[rank]->all_gather(1, std::vector{2U, 3U}, std::to_string(rank)) ==
          std::vector<std::string>{"2", "3"});
    if (rank == 3) channels[3].reset();
  });
  CHECK(has(blocked.get(), "rank 3 ("));
  const std::string text =
      error_of([&] { static_cast<void>(channels[1]->all_gather(2, all_of(4), "")); });
  CHECK(has(text, "rank 3 ("));
  CHECK(has(text, "has left the job"));
  CHECK(channels[1]->abort_reason().empty());
  CHECK(eventually([&] { return !channels[1]->progress().at(3).is_connected; }));
  in_each_rank(3, [&](std::uint32_t rank) {
    CHECK(channels[rank]->all_gather(4, all_of(3), "").size() == 3);
  });
  // Rank 0 relays the messages, so the others need it.
  channels[0]->leave();
  CHECK(has(error_of([&] { static_cast<void>(channels[0]->all_gather(5, all_of(3), "")); }),
            "rank 0 ("));
  CHECK(has(error_of([&] {
              static_cast<void>(channels[1]->all_gather(5, std::vector{1U, 2U}, ""));
            }),
            "rank 0 ("));
  CHECK(channels[1]->abort_reason().empty());
}

TEST_CASE("control channel: the last messages arrive though all ranks leave at once") {
  for (int i = 0; i < 20; ++i) {
    Channels channels = open_all(3);
    in_each_rank(3, [&](std::uint32_t rank) {
      CHECK(channels[rank]->all_gather(0, all_of(3), std::string(10'000, 'x')).size() == 3);
      channels[rank].reset();
    });
  }
}

TEST_CASE("control channel: leaving does not wait for a rank that is stopped") {
  JobWithRawRank job(3);
  const auto before = Clock::now();
  job.channels[0].reset();  // the raw rank does not close its connection
  CHECK(Clock::now() - before < 5s);
}

TEST_CASE("control channel: every rank knows the reports of all") {
  const Channels channels = open_all(3);
  in_each_rank(3, [&](std::uint32_t rank) {
    channels[rank]->report_progress("graph " + std::to_string(rank));
  });
  for (const auto& channel : channels) {
    CHECK(eventually([&] {
      const auto progress = channel->progress();
      for (std::uint32_t rank = 0; rank < 3; ++rank)
        if (progress.at(rank).report != "graph " + std::to_string(rank)) return false;
      return true;
    }));
    for (const auto& one : channel->progress()) {
      CHECK(one.is_connected);
      CHECK(has(one.name, "pid " + std::to_string(::getpid())));
    }
    CHECK(channel->progress().at(channel->rank()).age == 0ns);
  }
  channels[2]->report_progress(std::string(100'000, 'r'));
  CHECK(eventually([&] { return channels[1]->progress().at(2).report == std::string(4096, 'r'); }));
}

TEST_CASE("control channel: the age of a rank that sends nothing grows on all ranks") {
  JobWithRawRank job(3);
  CHECK(eventually([&] { return job.channels[1]->progress().at(2).age > 100ms; }));
  CHECK(eventually([&] { return job.channels[0]->progress().at(2).age > 100ms; }));
  CHECK(eventually([&] { return job.channels[0]->progress().at(1).age < 100ms; }));
  CHECK(eventually([&] { return job.channels[1]->progress().at(0).age < 100ms; }));
}

TEST_CASE("control channel: open() names the ranks that are missing") {
  const std::uint16_t port = free_port();
  in_each_rank(2, [&](std::uint32_t rank) {
    ControlChannelDesc desc = desc_of(rank, 4, port);
    desc.connect_limit = 300ms;
    const std::string text = error_of([&] { static_cast<void>(ControlChannel::open(desc)); });
    CHECK(has(text, "ranks 2, 3 did not connect to 127.0.0.1:" + std::to_string(port)));
    CHECK(has(text, "300 ms"));
  });
}

TEST_CASE("control channel: open() without rank 0 names its address and ports") {
  ControlChannelDesc desc = desc_of(1, 2, free_port());
  desc.connect_limit = 100ms;
  const std::string text = error_of([&] { static_cast<void>(ControlChannel::open(desc)); });
  CHECK(has(text, "127.0.0.1, port " + std::to_string(desc.port)));
}

TEST_CASE("control channel: open() rejects descriptions that cannot work") {
  const auto open = [](ControlChannelDesc desc) {
    return error_of([&] { static_cast<void>(ControlChannel::open(desc)); },
                    ErrorCode::InvalidArgument);
  };
  ControlChannelDesc desc = desc_of(1, 2, 20000);
  desc.address = "300.1.2.3 not a host";
  CHECK(has(open(desc), "300.1.2.3"));
  desc.address.clear();
  CHECK(has(open(desc), "MASTER_ADDR"));
  CHECK(has(open(desc_of(2, 2, 20000)), "rank 2"));
  CHECK(has(open(desc_of(1, 2, 0)), "port"));
  CHECK(has(open(desc_of(0, 2, 65530)), "port"));
  desc = desc_of(0, 2, 20000);
  desc.secret = std::string(4096, 's');
  CHECK(has(open(desc), "secret"));
}

TEST_CASE("control channel: rank 0 takes the next port if the first is taken") {
  const std::uint16_t port = free_port();
  const Listener silent(port);  // accepts and never answers
  REQUIRE(silent.listens());
  std::uint16_t used = 0;
  in_each_rank(2, [&](std::uint32_t rank) {
    ControlChannelDesc desc = desc_of(rank, 2, port);
    desc.greeting_limit = 100ms;
    desc.publish = [&](std::uint16_t published) { used = published; };
    const auto channel = ControlChannel::open(desc);
    CHECK(channel->all_gather(0, all_of(2), "").size() == 2);
  });
  CHECK(used > port);
  CHECK(used < port + 16);
}

TEST_CASE("control channel: the answers of another program do not stop a rank") {
  const std::uint16_t port = free_port();
  const Listener foreign(port);
  REQUIRE(foreign.listens());
  const auto hub = std::async(std::launch::async, [&] {
    const auto channel = ControlChannel::open(desc_of(0, 2, port));
    CHECK(channel->all_gather(0, all_of(2), "").size() == 2);
  });
  auto other = std::async(std::launch::async, [&] {
    ControlChannelDesc desc = desc_of(1, 2, port);
    const auto channel = ControlChannel::open(desc);
    CHECK(channel->all_gather(0, all_of(2), "").size() == 2);
  });
  foreign.answer("HTTP/1.1 400 Bad Request\r\n\r\n");
  other.get();
}

TEST_CASE("control channel: a late rank 0 is waited for") {
  const std::uint16_t port = free_port();
  auto early =
      std::async(std::launch::async, [&] { return ControlChannel::open(desc_of(1, 2, port)); });
  CHECK(early.wait_for(100ms) == std::future_status::timeout);
  const auto hub = ControlChannel::open(desc_of(0, 2, port));
  CHECK(early.get()->rank() == 1);
}

TEST_CASE("control channel: two jobs with the same ports, and one of another size, stay apart") {
  const std::uint16_t port = free_port();
  in_each_rank(6, [&](std::uint32_t i) {
    ControlChannelDesc desc = desc_of(i % 2, 2, port);
    if (i >= 4) desc.size = 3;
    if (i < 2) desc.secret = "of another job";
    if (i >= 4) {  // its third rank does not exist
      desc.connect_limit = 1s;
      CHECK(has(error_of([&] { static_cast<void>(ControlChannel::open(desc)); }),
                "rank 2 did not connect"));
      return;
    }
    const auto channel = ControlChannel::open(desc);
    const auto got = channel->all_gather(0, all_of(2), desc.secret);
    CHECK(got == std::vector<std::string>{desc.secret, desc.secret});
  });
}

TEST_CASE("control channel: a second client of a rank is refused") {
  const std::uint16_t port = free_port();
  Channels channels(3);
  std::atomic<int> refused = 0;
  std::vector<std::future<void>> running;
  for (const std::uint32_t rank : {0U, 1U, 1U}) {
    running.push_back(std::async(std::launch::async, [&, rank] {
      try {
        auto channel = ControlChannel::open(desc_of(rank, 3, port));
        channels[rank] = std::move(channel);
      } catch (const Error& error) {
        CHECK(error.code() == ErrorCode::InvalidArgument);
        CHECK(has(error.what(), "rank 1 ("));
        CHECK(has(error.what(), "is connected already"));
        ++refused;
      }
    }));
  }
  CHECK(eventually([&] { return refused == 1; }));
  channels[2] = ControlChannel::open(desc_of(2, 3, port));
  for (auto& one : running) one.get();
  in_each_rank(3, [&](std::uint32_t rank) {
    CHECK(channels[rank]->all_gather(0, all_of(3), "").size() == 3);
  });
}

TEST_CASE("control channel: hostile connections neither stop nor delay a job") {
  std::promise<std::uint16_t> published;
  ControlChannelDesc desc = desc_of(0, 2, 0);
  desc.greeting_limit = 200ms;
  desc.publish = [&](std::uint16_t port) { published.set_value(port); };
  auto hub = std::async(std::launch::async, [&] { return ControlChannel::open(desc); });
  const std::uint16_t port = published.get_future().get();
  const std::string hello = control_greeting(desc_of(1, 2, port));

  SUBCASE("garbage is closed") {
    const std::uint64_t seed = std::random_device{}();
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    for (int i = 0; i < 50; ++i) {
      std::string bytes(8 + random() % 8000, '\0');
      for (char& b : bytes) b = static_cast<char>(random());
      bytes[7] = '\x7f';  // an oversized frame
      const RawPeer peer(port);
      peer.send(bytes);
      CHECK(peer.is_closed());
    }
  }
  SUBCASE("a greeting with any byte changed is closed, or is that of a name") {
    const std::size_t name_at = hello.size() - control_name().size();
    for (std::size_t at = 0; at < name_at; ++at) {
      CAPTURE(at);
      std::string bytes = hello;
      bytes[at] = static_cast<char>(bytes[at] ^ 0x40);
      const RawPeer peer(port);
      peer.send(bytes);
      CHECK(!peer.is_welcome());
    }
  }
  SUBCASE("frames over the limit of greetings are closed before they arrive") {
    for (const std::uint32_t length : {kMaxGreetingBytes + 1, kMaxFrameBytes, 0xffffffffU}) {
      const Frame head = FrameWriter(FrameType::Hello).u32(length).finish();
      const RawPeer peer(port);
      peer.send(head->substr(0, 4) + head->substr(8, 4));
      CHECK(peer.is_closed());
    }
  }
  SUBCASE("greetings of other secrets, sizes and ranks are closed without an answer") {
    ControlChannelDesc wrong = desc_of(1, 2, port);
    for (const char* secret : {"", "of this jo", "of this job ", "of that job"}) {
      wrong.secret = secret;
      const RawPeer peer(port);
      peer.send(control_greeting(wrong));
      CHECK(!peer.is_welcome());
    }
    for (const auto& other : {desc_of(1, 3, port), desc_of(0, 2, port), desc_of(2, 2, port)}) {
      const RawPeer peer(port);
      peer.send(control_greeting(other));
      CHECK(!peer.is_welcome());
    }
  }
  SUBCASE("an incomplete greeting is closed after its limit") {
    const RawPeer silent(port), slow(port);
    slow.send(hello.substr(0, hello.size() - 1));
    CHECK(silent.is_closed());
    CHECK(slow.is_closed());
  }
  CHECK(hub.wait_for(0s) == std::future_status::timeout);
  ControlChannelDesc other = desc_of(1, 2, port);
  other.port_count = 1;
  const auto channel = ControlChannel::open(other);
  CHECK(hub.get()->size() == 2);
  // No port stays open.
  CHECK(eventually([&] { return !RawPeer(port).connected(); }));
}

TEST_CASE("control channel: a flood of silent connections does not keep a rank out") {
  std::promise<std::uint16_t> published;
  ControlChannelDesc desc = desc_of(0, 2, 0);
  desc.greeting_limit = kHang;
  desc.publish = [&](std::uint16_t port) { published.set_value(port); };
  auto hub = std::async(std::launch::async, [&] { return ControlChannel::open(desc); });
  const std::uint16_t port = published.get_future().get();
  std::vector<std::unique_ptr<RawPeer>> peers;
  for (int i = 0; i < 200; ++i) peers.push_back(std::make_unique<RawPeer>(port));
  CHECK(peers.front()->is_closed());
  ControlChannelDesc other = desc_of(1, 2, port);
  other.port_count = 1;
  const auto channel = ControlChannel::open(other);
  CHECK(hub.get()->size() == 2);
  CHECK(peers.back()->is_closed());
}

TEST_CASE("control channel: rank 0 can have a name or an IPv6 address") {
  char host[256] = {};
  REQUIRE(::gethostname(host, sizeof(host) - 1) == 0);
  for (const std::string address :
       {"localhost", "::1", "127.0.0.2", static_cast<const char*>(host)}) {
    CAPTURE(address);
    const std::uint16_t port = free_port();
    try {
      in_each_rank(2, [&](std::uint32_t rank) {
        ControlChannelDesc desc = desc_of(rank, 2, port);
        desc.address = address;
        desc.connect_limit = 1s;
        const auto channel = ControlChannel::open(desc);
        CHECK(channel->all_gather(0, all_of(2), "").size() == 2);
      });
    } catch (const Error& error) {
      // A machine can lack IPv6 or an address of its own name.
      CHECK((address == "::1" || address == host));
      MESSAGE(address, ": ", error.what());
    }
  }
}

TEST_CASE("control channel: a forked child has no sockets of the channel") {
  JobWithRawRank job(3);
  // The raw rank's socket and those of other tests are not the channel's.
  const auto sockets = [] {
    int count = 0;
    for (int fd = 0; fd < 1024; ++fd) {
      struct stat status {};
      if (::fstat(fd, &status) == 0 && S_ISSOCK(status.st_mode)) ++count;
    }
    return count;
  };
  const int before = sockets();
  const pid_t child = ::fork();
  if (child == 0) ::_exit(sockets());
  REQUIRE(child > 0);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  // Rank 0 has two sockets, and rank 1 has one.
  CHECK(WEXITSTATUS(status) == before - 3);
  const auto got = std::async(std::launch::async, [&] {
    CHECK(job.channels[1]->all_gather(0, all_of(2), "").size() == 2);
  });
  CHECK(job.channels[0]->all_gather(0, all_of(2), "").size() == 2);
}

TEST_CASE("control channel: sockets are closed on exec, and none is left at the end") {
  const auto sockets = [](bool only_inherited) {
    int count = 0;
    for (int fd = 0; fd < 1024; ++fd) {
      struct stat status {};
      if (::fstat(fd, &status) != 0 || !S_ISSOCK(status.st_mode)) continue;
      if (!only_inherited || (::fcntl(fd, F_GETFD) & FD_CLOEXEC) == 0) ++count;
    }
    return count;
  };
  const int before = sockets(false), inherited = sockets(true);
  {
    const Channels channels = open_all(3);
    CHECK(sockets(false) == before + 4);
    CHECK(sockets(true) == inherited);
  }
  CHECK(sockets(false) == before);
}
