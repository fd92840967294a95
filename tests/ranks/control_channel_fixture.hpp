// Jobs of channels within this process, for tests. Threads: one for each rank.
#pragma once

#include <doctest/doctest.h>
#include <fcntl.h>
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
#include <string>
#include <thread>

#include <reprise/error.hpp>

#include "collectives/control/control_channel.hpp"
#include "collectives/control/control_connect.hpp"
#include "collectives/control/control_frame.hpp"
#include "collectives/control/control_handshake.hpp"
#include "collectives/control/gather_table.hpp"
#include "ranks/raw_peer.hpp"

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

// Other test processes may use the same ports at the same time. Forked ranks share it.
inline const std::string kJobSecret = "of this job of process " + std::to_string(::getpid());

inline ControlChannelDesc desc_of(std::uint32_t rank, std::uint32_t size, std::uint16_t port) {
  ControlChannelDesc desc;
  desc.rank = rank;
  desc.size = size;
  desc.address = "127.0.0.1";
  desc.port = port;
  desc.secret = kJobSecret;
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
