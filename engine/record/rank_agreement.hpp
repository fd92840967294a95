// RankAgreement: how the graphs of this process agree with those of other ranks. Knows no
// transport. Threads: any; calls that are collective by one thread of a rank at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/buffer.hpp>
#include <reprise/graph_op.hpp>

#include "base/handle_access.hpp"

namespace reprise::detail {

// The ranks of a device, whose collectives run only if all ranks launch them in one order. Target
// reprise::collectives implements it.
class RankAgreement {
 public:
  virtual ~RankAgreement() = default;
  struct Collective {
    const GraphOp* op = nullptr;
    std::string label;  // of the command, "step/gradients"
    SourceLocation where;
    bool is_conditional = false;  // in a body of a conditional
  };
  // A collective call itself: compares the collectives of a graph, in the order in which they run,
  // with those of the other ranks. `hash` identifies them. Throws RankMismatch, which names two
  // commands, and RankLost.
  virtual void compare(std::string_view graph, std::uint64_t hash,
                       std::span<const Collective> collectives) = 0;
  // A collective call after compare(): reports to the other ranks why this one cannot make the
  // graph; empty: it can. Throws RankLost, with the reason, if only others cannot.
  virtual void compare_outcomes(std::uint64_t hash, const std::string& error) = 0;
  struct Message {
    std::uint32_t rank = 0;
    std::string text;
  };
  // A collective call of the ranks that a compared graph's collectives connect: the message of each
  // of them, by rank. Throws Unsupported if they cannot exchange messages, or if none of the
  // graph's communicators contains the others, and RankLost.
  [[nodiscard]] virtual std::vector<Message> exchange(std::uint64_t hash, std::string message) = 0;
  // A launched graph.
  class Graph {
   public:
    virtual ~Graph() = default;
    // With fault markers, the commands that started and did not end; otherwise empty.
    [[nodiscard]] virtual std::string unfinished() const = 0;
    // Reports the message `replay-waits` if the graph has not completed its launches, the latest of
    // which, `replay`, was `time` ago. Any thread.
    virtual void report_wait(std::uint64_t replay, std::chrono::milliseconds time) const = 0;
  };
  // Called before each launch of a graph with collectives, with their hash, the number of the
  // replay (0: tune() measures it) and that of the replica. Does not block. Throws RankLost.
  virtual void record_launch(std::uint64_t hash, std::uint64_t replay, std::uint32_t replica,
                             const std::shared_ptr<const Graph>& graph) = 0;
  // The buffer that every collective of the device reads and writes, which orders them.
  [[nodiscard]] virtual const BufferView& order() const noexcept = 0;
  // Throws RankLost once a rank was lost: collectives that have ended since may have no result.
  virtual void require_all_ranks() const = 0;
  // A word in pinned host memory that is not 0 once a rank was lost; loops on GPUs end then. Null:
  // there is none. Valid as long as this object.
  [[nodiscard]] virtual const std::uint32_t* lost_word() const noexcept = 0;
  // Identifies a collective in the traces of its ranks. kind: a CollectiveKind; 8: a group.
  // communicator: equal on its ranks, different from all others; 0: unknown. number: of this graph
  // among the compared graphs of the communicator. bytes: the contribution of this rank.
  struct Traced {
    std::uint8_t kind = 8;
    std::uint32_t size = 0, rank = 0, peer = 0xffffffff;
    std::uint64_t communicator = 0, number = 0, bytes = 0;
  };
  // `hash`: as for compare(). size 0: it needs no other rank.
  [[nodiscard]] virtual Traced traced(const GraphOp& op, std::uint64_t hash) const = 0;
  // The clock of another rank, one of those that the launcher started, showed `other` between
  // `sent` and `received`. ns of steady clocks.
  struct ClockExchange {
    std::uint32_t rank = 0;
    std::int64_t sent = 0, received = 0, other = 0;
  };
  // The exchanges since the last call. Does not block.
  [[nodiscard]] virtual std::vector<ClockExchange> take_clock_exchanges() = 0;
};

// The ranks of a collective; null for all other ops. Valid as long as the op.
[[nodiscard]] inline RankAgreement* ranks_of(const GraphOp& op) noexcept {
  return HandleAccess::ranks(op);
}

}  // namespace reprise::detail
