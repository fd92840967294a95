// The comparison of the collectives that two ranks are about to run. Threads: values and pure
// functions.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/collectives.hpp>

namespace reprise::detail {

// Ranks are those of the job.
struct ComparedCall {
  CollectiveKind kind = CollectiveKind::AllReduce;
  ElementType type = ElementType::F32;
  ReduceOperator reduce = ReduceOperator::Sum;
  std::uint32_t peer = 0;
  std::uint64_t count = 0;

  friend bool operator==(const ComparedCall&, const ComparedCall&) = default;
};
struct ComparedCommand {
  std::uint64_t communicator = 0;
  std::vector<std::uint32_t> members;  // in the order of the communicator
  std::vector<ComparedCall> calls;
  std::string label, location;  // "step/gradients", "train.cpp:42"
};

// What the ranks exchange. Throws Error (RankMismatch) for text that encode() did not write, as a
// rank with another version of the library sends.
[[nodiscard]] std::string encode(const std::vector<ComparedCommand>& commands);
[[nodiscard]] std::vector<ComparedCommand> decode(std::string_view text);

struct RankCommands {
  std::uint32_t rank = 0;
  const std::vector<ComparedCommand>* commands = nullptr;
};
// The first two commands that keep two ranks from completing, as text that names both; empty: there
// are none. Commands without both ranks, and sends to others, do not count. With `a` as `b`, the
// first command that sends to its own rank and does not receive the same.
[[nodiscard]] std::string find_mismatch(const RankCommands& a, const RankCommands& b);

// The commands with which several ranks, of which no two mismatch, wait for each other in a cycle;
// empty: there are none. A rank runs its commands one after another. Ranks that are not in `ranks`
// do not count.
[[nodiscard]] std::string find_deadlock(std::span<const RankCommands> ranks);

}  // namespace reprise::detail
