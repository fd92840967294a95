#include "dependencies/barriers.hpp"

#include <algorithm>

namespace reprise::detail {

namespace {

// merge() detects redundant sources only up to this number of edges.
constexpr std::size_t kMaxScannedEdges = 32;

constexpr std::array<Access, 2> kKinds = {Access::Read, Access::Write};

// The bytes of a barrier on a buffer, as an access.
BufferAccess range_of(const Recording& recording, const BarrierPayload& barrier) {
  return recording.in_memory({barrier.buffer, Access::ReadWrite, 0, barrier.begin, barrier.end});
}

constexpr bool shares_kind(Access a, Access b) {
  return (static_cast<int>(a) & static_cast<int>(b)) != 0;
}

}  // namespace

BarrierTracker::BarrierTracker(const Recording& recording, GraphBuilder& builder)
    : recording_(recording), builder_(builder) {
  for (std::uint32_t i = 0; i < recording.commands.size(); ++i) {
    if (recording.commands[i].kind != CommandKind::Barrier) continue;
    const auto& barrier = recording.payload<BarrierPayload>(i);
    if (!any_) buffers_.resize(recording.buffers.size());
    any_ = true;
    any_programmatic_ |= barrier.dependency == Dependency::Programmatic;
    if (barrier.buffer == kNone) {
      any_global_ = true;
    } else {
      const BufferAccess range = range_of(recording, barrier);
      auto& starts = buffers_[range.buffer].starts;
      starts.insert(starts.end(), {0, range.begin, range.end});
    }
  }
  for (Buffer& buffer : buffers_) {
    std::sort(buffer.starts.begin(), buffer.starts.end());
    buffer.starts.erase(std::unique(buffer.starts.begin(), buffer.starts.end()),
                        buffer.starts.end());
    buffer.states.resize(buffer.starts.size());
  }
}

BarrierTracker::Span BarrierTracker::ranges(const Buffer& buffer, std::uint64_t begin,
                                            std::uint64_t end) {
  if (buffer.starts.empty() || begin >= end) return {0, 0};
  const auto first = std::upper_bound(buffer.starts.begin(), buffer.starts.end(), begin) -
                     buffer.starts.begin() - 1;
  const auto last = std::lower_bound(buffer.starts.begin() + first, buffer.starts.end(), end) -
                    buffer.starts.begin();
  return {static_cast<std::size_t>(first), static_cast<std::size_t>(last)};
}

EdgeCause BarrierTracker::cause(std::uint32_t barrier) const {
  EdgeCause cause;
  cause.kind = CauseKind::Barrier;
  cause.barrier = barrier;
  if (barrier != kNone) cause.buffer = recording_.payload<BarrierPayload>(barrier).buffer;
  return cause;
}

void BarrierTracker::add_edges_into(std::uint32_t command) {
  if (!any_) return;
  static constexpr std::array<Source Side::*, 2> kWaitMembers = {&Side::wait,
                                                                 &Side::programmatic_wait};
  const auto waits =
      std::span(kWaitMembers)
          .first(any_programmatic_ && recording_.starts_programmatically(command) ? 2 : 1);
  const Command& c = recording_.commands[command];
  for (std::uint32_t i = 0; i < c.access_count; ++i) {
    const BufferAccess access = recording_.in_memory(recording_.accesses[c.first_access + i]);
    if (any_global_) add_edges(global_, access.access, waits);
    const Buffer& buffer = buffers_[access.buffer];
    const Span span = ranges(buffer, access.begin, access.end);
    for (std::size_t r = span.first; r < span.last; ++r)
      add_edges(buffer.states[r], access.access, waits);
  }
}

void BarrierTracker::add_edges(const State& state, Access access,
                               std::span<Source Side::*const> waits) {
  for (std::size_t kind = 0; kind < 2; ++kind) {
    if (!shares_kind(access, kKinds[kind])) continue;
    for (Source Side::*const member : waits) {
      const Source& wait = state[kind].*member;
      if (wait.node != kNone) builder_.add_edge(wait.node, cause(wait.barrier));
    }
  }
}

void BarrierTracker::add_accesses(std::uint32_t command, std::uint32_t node) {
  if (!any_) return;
  list_head_after_ = kNone;
  const Command& c = recording_.commands[command];
  for (std::uint32_t i = 0; i < c.access_count; ++i) {
    const BufferAccess access = recording_.in_memory(recording_.accesses[c.first_access + i]);
    if (any_global_) add_accesses(global_, access.access, node);
    Buffer& buffer = buffers_[access.buffer];
    const Span span = ranges(buffer, access.begin, access.end);
    for (std::size_t r = span.first; r < span.last; ++r)
      add_accesses(buffer.states[r], access.access, node);
  }
}

void BarrierTracker::add_accesses(State& state, Access access, std::uint32_t node) {
  for (std::size_t kind = 0; kind < 2; ++kind) {
    std::uint32_t& list = state[kind].pending;
    if (!shares_kind(access, kKinds[kind]) || (list != kNone && access_lists_[list].node == node))
      continue;
    if (list_head_after_ == kNone || list_head_before_ != list) {
      list_head_before_ = list;
      list_head_after_ = static_cast<std::uint32_t>(access_lists_.size());
      access_lists_.push_back({node, list});
    }
    list = list_head_after_;
  }
}

void BarrierTracker::add_barrier(std::uint32_t barrier) {
  const auto& payload = recording_.payload<BarrierPayload>(barrier);
  if (payload.buffer == kNone) {
    add_barrier(std::span(&global_, 1), barrier);
    return;
  }
  const BufferAccess range = range_of(recording_, payload);
  Buffer& buffer = buffers_[range.buffer];
  const Span span = ranges(buffer, range.begin, range.end);
  add_barrier(std::span(buffer.states).subspan(span.first, span.last - span.first), barrier);
}

void BarrierTracker::add_barrier(std::span<State> states, std::uint32_t barrier) {
  const auto& payload = recording_.payload<BarrierPayload>(barrier);
  Source Side::*const wait_member =
      payload.dependency == Dependency::Full ? &Side::wait : &Side::programmatic_wait;
  // Adjacent ranges and both kinds often have the same history and then share its source node.
  std::vector<Source> found;
  Side previous;
  std::uint32_t previous_node = kNone;
  for (State& state : states) {
    for (std::size_t kind = 0; kind < 2; ++kind) {
      if (!shares_kind(payload.before, kKinds[kind])) continue;
      Side& side = state[kind];
      if (side.pending == kNone || side.pending != previous.pending ||
          side.earlier != previous.earlier) {
        previous = side;
        previous_node = gather(side, barrier);
      }
      side.pending = kNone;
      side.earlier = previous_node;
      if (previous_node != kNone) found.push_back({previous_node, kNone});
    }
  }
  sources_ = std::move(found);
  Source all = merge(barrier);
  if (all.node == kNone) return;
  all.barrier = barrier;

  Source old_wait, new_wait;
  for (State& state : states) {
    for (std::size_t kind = 0; kind < 2; ++kind) {
      if (!shares_kind(payload.after, kKinds[kind])) continue;
      Source& wait = state[kind].*wait_member;
      if (new_wait.node == kNone || wait != old_wait) {
        old_wait = wait;
        sources_.clear();
        if (wait.node != kNone) sources_.push_back(wait);
        sources_.push_back(all);
        new_wait = merge(barrier);
      }
      wait = new_wait;
    }
  }
}

std::uint32_t BarrierTracker::gather(Side& side, std::uint32_t barrier) {
  if (side.pending == kNone) return side.earlier;
  sources_.clear();
  if (side.earlier != kNone) sources_.push_back({side.earlier, kNone});
  for (std::uint32_t n = side.pending; n != kNone; n = access_lists_[n].next)
    sources_.push_back({access_lists_[n].node, kNone});
  return merge(barrier).node;
}

BarrierTracker::Source BarrierTracker::merge(std::uint32_t barrier) {
  std::stable_sort(sources_.begin(), sources_.end(),
                   [](const Source& a, const Source& b) { return a.node < b.node; });
  sources_.erase(std::unique(sources_.begin(), sources_.end(),
                             [](const Source& a, const Source& b) { return a.node == b.node; }),
                 sources_.end());
  // Drop sources with a direct edge to another source, if the scan is cheap.
  std::size_t edges = 0;
  for (const Source& source : sources_) edges += builder_.edges_into(source.node).size();
  if (sources_.size() > 1 && edges <= kMaxScannedEdges) {
    const auto leads_to_another = [&](const Source& source) {
      return std::any_of(sources_.begin(), sources_.end(), [&](const Source& other) {
        const auto into = builder_.edges_into(other.node);
        return std::any_of(into.begin(), into.end(),
                           [&](const Edge& edge) { return edge.from == source.node; });
      });
    };
    // The last source has no edge to another, so at least one remains. Erasing from the front
    // preserves the positions still to scan.
    for (std::size_t i = sources_.size() - 1; i-- > 0;) {
      if (leads_to_another(sources_[i]))
        sources_.erase(sources_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  if (sources_.empty()) return {};
  if (sources_.size() == 1) return sources_.front();
  const Source join{builder_.begin_join(barrier), kNone};
  for (const Source& source : sources_) builder_.add_edge(source.node, cause(source.barrier));
  builder_.end_node();
  return join;
}

}  // namespace reprise::detail
