// BarrierTracker: what the barriers of a recording order, as edges in a graph that is built command
// by command. A barrier on a range orders commands that access the range at all; rows with gaps
// count with their bounds. Joins it adds stand for many commands at once, so that no barrier costs
// (commands before) x (commands after) edges. Threads: one thread at a time.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "dependencies/graph_builder.hpp"

namespace reprise::detail {

class BarrierTracker {
 public:
  // Recording and builder outlive the tracker.
  BarrierTracker(const Recording& recording, GraphBuilder& builder);

  // Call each in recorded order. Before end_node() of the command's node: adds the edges that
  // earlier barriers ask for.
  void add_edges_into(std::uint32_t command);
  // After that, for later barriers.
  void note(std::uint32_t command, std::uint32_t node);
  // Between two nodes; may add joins.
  void pass(std::uint32_t barrier);

 private:
  // A node that stands for itself or, a join, for all that lead into it.
  struct Source {
    std::uint32_t node = kNone;
    std::uint32_t barrier =
        kNone;  // the one that makes others wait for it; kNone: the node's own in-edges say
    friend bool operator==(const Source&, const Source&) = default;
  };
  // Commands in a list that only grows at its head.
  struct Noted {
    std::uint32_t node, next;
  };
  // Of one kind of access (0: reads, 1: writes).
  struct Side {
    std::uint32_t noted = kNone;  // in noted_: commands since the last barrier that asked for them
    std::uint32_t earlier = kNone;  // node that stands for those before
    Source wait;                    // what the next such access waits for
    Source early_wait;  // and what it waits for besides if it is of a kernel that starts early
  };
  using State = std::array<Side, 2>;
  // Ranges between the ends of a buffer's barriers; the last one has no end.
  struct Buffer {
    std::vector<std::uint64_t> begins;
    std::vector<State> states;
  };
  struct Span {
    std::size_t first, last;
  };

  [[nodiscard]] static Span ranges(const Buffer& buffer, std::uint64_t begin, std::uint64_t end);
  void add_edges(const State& state, Access access, std::span<Source Side::*const> waits);
  void note(State& state, Access access, std::uint32_t node);
  void pass(std::span<State> states, std::uint32_t barrier);
  // The node that stands for all commands noted on a side so far; kNone: none.
  std::uint32_t gather(Side& side, std::uint32_t barrier);
  // One source for several: one of them where that is enough, else a join. `parts_` is used up.
  Source merge(std::uint32_t barrier);
  [[nodiscard]] EdgeCause cause(std::uint32_t barrier) const;

  const Recording& recording_;
  GraphBuilder& builder_;
  std::vector<Buffer> buffers_;  // no ranges: no barrier names it
  State global_;
  bool any_ = false, any_global_ = false, any_programmatic_ = false;
  std::vector<Noted> noted_;
  std::vector<Source> parts_;
  std::uint32_t list_before_ = kNone,
                list_after_ = kNone;  // the last list that the noted node was put in front of
};

}  // namespace reprise::detail
