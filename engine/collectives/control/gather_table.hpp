// GatherTable: the hub's open all_gather calls. Either all members of a call get its messages, or
// all get its error. A rank has a limited number of open calls and of bytes in them. Knows no
// sockets. Threads: one at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <reprise/error.hpp>

#include "collectives/control/control_frame.hpp"

namespace reprise::detail {

class GatherTable {
 public:
  using Clock = std::chrono::steady_clock;
  struct Callbacks {
    std::function<void(std::uint32_t rank, const Frame&)> deliver;
    std::function<std::string(std::uint32_t rank)> describe;  // "rank 3 (node7, pid 4711)"
  };
  GatherTable(std::uint32_t size, std::chrono::milliseconds limit, Callbacks callbacks);

  // The frame in which a rank calls all_gather.
  [[nodiscard]] static Frame call(std::uint64_t group, std::uint64_t sequence,
                                  const std::vector<std::uint32_t>& members,
                                  std::string_view message);
  // Handles the body of such a frame. Throws MalformedFrame, also if `rank` exceeds its limits.
  void add(std::uint32_t rank, std::string_view body, Clock::time_point now);
  // Calls that need a message of `rank` fail from now on.
  void remove(std::uint32_t rank);
  // Fails the calls for which the limit has passed since their first message.
  void expire(Clock::time_point now);

  static constexpr std::size_t kMaxOpenCalls = 1024, kMaxOpenBytes = 64U << 20;  // of a rank

 private:
  using Key = std::pair<std::uint64_t, std::uint64_t>;  // group, sequence number in the group
  struct Call {
    std::vector<std::uint32_t> members;
    std::map<std::uint32_t, std::string> messages;  // by rank
    Clock::time_point deadline;
    std::optional<ErrorCode> failed;
    std::string failure;
  };
  using Calls = std::map<Key, Call>;
  Calls::iterator erase(Calls::iterator at);
  void erase_complete();
  void fail_call(const Key& key, Call& call, ErrorCode code, std::string text);
  void deliver_failure(std::uint32_t rank, const Key& key, const Call& call) const;
  // Failed calls stay until each member has called or left.
  [[nodiscard]] bool is_complete(const Call& call) const;
  [[nodiscard]] std::string missing(const Call& call) const;

  const std::chrono::milliseconds limit_;
  const Callbacks callbacks_;
  struct Rank {
    bool is_gone = false;
    std::size_t open_calls = 0, open_bytes = 0;
  };
  std::vector<Rank> ranks_;
  Calls calls_;
};

}  // namespace reprise::detail
