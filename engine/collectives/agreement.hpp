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

// The commands as a message to other ranks, and the reverse. decode() throws Error (RankMismatch)
// for text that encode() did not write, for example that of another version of the library.
[[nodiscard]] std::string encode(const std::vector<ComparedCommand>& commands);
[[nodiscard]] std::vector<ComparedCommand> decode(std::string_view text);

struct RankCommands {
  std::uint32_t rank = 0;
  const std::vector<ComparedCommand>* commands = nullptr;
};
// Names the first two commands that keep two ranks from completing; empty: there are none. Ignores
// commands without both ranks, and sends to others. If `a` and `b` are one rank: names the first
// command that sends to its own rank and does not receive the same.
[[nodiscard]] std::string find_mismatch(const RankCommands& a, const RankCommands& b);

// Names the commands with which several ranks, of which no two mismatch, wait for each other in a
// cycle; empty: there are none. Each rank runs its commands in order. Ignores ranks that are not in
// `ranks`.
[[nodiscard]] std::string find_deadlock(std::span<const RankCommands> ranks);

}  // namespace reprise::detail
