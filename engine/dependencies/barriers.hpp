// BarrierTracker: adds the edges that barriers require to a graph under construction. A barrier on
// a range orders commands that access any byte of the range; rows with gaps count by their bounds.
// Join nodes represent many commands, so a barrier never costs (commands before) x (commands after)
// edges. Threads: one thread at a time.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "dependencies/graph_builder.hpp"

namespace reprise::detail {

class BarrierTracker {
 public:
  // The recording and the builder must outlive the tracker.
  BarrierTracker(const Recording& recording, GraphBuilder& builder);

  // The functions below are called in recorded order. add_edges_into() runs before end_node() of
  // the command's node and adds the edges that earlier barriers require.
  void add_edges_into(std::uint32_t command);
  // Registers the accesses of a finished node for later barriers.
  void add_accesses(std::uint32_t command, std::uint32_t node);
  // Called between two nodes; may add join nodes.
  void add_barrier(std::uint32_t barrier);

 private:
  // A node to wait for: a command, or a join of several commands.
  struct Source {
    std::uint32_t node = kNone;
    std::uint32_t barrier = kNone;  // cause of the wait; kNone: given by the node's own in-edges
    friend bool operator==(const Source&, const Source&) = default;
  };
  // Entry of a list of commands that grows only at its head.
  struct ListEntry {
    std::uint32_t node, next;
  };
  // State of one kind of access (0: reads, 1: writes).
  struct Side {
    // head in access_lists_: commands since the last barrier on this kind
    std::uint32_t pending = kNone;
    std::uint32_t earlier = kNone;  // node that represents older commands
    Source wait;                    // wait of the next access of this kind
    Source programmatic_wait;       // additional wait of a kernel with programmatic start
  };
  using State = std::array<Side, 2>;
  // Ranges delimited by the bounds of a buffer's barriers; the last range is unbounded.
  struct Buffer {
    std::vector<std::uint64_t> starts;
    std::vector<State> states;
  };
  struct Span {
    std::size_t first, last;
  };

  [[nodiscard]] static Span ranges(const Buffer& buffer, std::uint64_t begin, std::uint64_t end);
  void add_edges(const State& state, Access access, std::span<Source Side::*const> waits);
  void add_accesses(State& state, Access access, std::uint32_t node);
  void add_barrier(std::span<State> states, std::uint32_t barrier);
  // Returns the node that represents all commands of a side so far; kNone if there are none.
  std::uint32_t gather(Side& side, std::uint32_t barrier);
  // Combines sources_ into one source, with a join if needed. Consumes sources_.
  Source merge(std::uint32_t barrier);
  [[nodiscard]] EdgeCause cause(std::uint32_t barrier) const;

  const Recording& recording_;
  GraphBuilder& builder_;
  std::vector<Buffer> buffers_;  // without ranges: no barrier names the buffer
  State global_;
  bool any_ = false, any_global_ = false, any_programmatic_ = false;
  std::vector<ListEntry> access_lists_;
  std::vector<Source> sources_;
  // Head of the last extended list, before and after the extension.
  std::uint32_t list_head_before_ = kNone, list_head_after_ = kNone;
};

}  // namespace reprise::detail
