#include "dependencies/barriers.hpp"

#include <algorithm>

namespace reprise::detail {

namespace {

// Edges that merge() looks at to find sources which lead to each other.
constexpr std::size_t kCheapEdges = 32;

constexpr std::array<Access, 2> kKinds = {Access::Read, Access::Write};

constexpr bool meets(Access a, Access b) {
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
      auto& begins = buffers_[barrier.buffer].begins;
      begins.insert(begins.end(), {0, barrier.begin, barrier.end});
    }
  }
  for (Buffer& buffer : buffers_) {
    std::sort(buffer.begins.begin(), buffer.begins.end());
    buffer.begins.erase(std::unique(buffer.begins.begin(), buffer.begins.end()),
                        buffer.begins.end());
    buffer.states.resize(buffer.begins.size());
  }
}

BarrierTracker::Span BarrierTracker::ranges(const Buffer& buffer, std::uint64_t begin,
                                            std::uint64_t end) {
  if (buffer.begins.empty() || begin >= end) return {0, 0};
  const auto first = std::upper_bound(buffer.begins.begin(), buffer.begins.end(), begin) -
                     buffer.begins.begin() - 1;
  const auto last = std::lower_bound(buffer.begins.begin() + first, buffer.begins.end(), end) -
                    buffer.begins.begin();
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
  static constexpr std::array<Source Side::*, 2> kWaits = {&Side::wait, &Side::early_wait};
  const auto waits = std::span(kWaits).first(
      any_programmatic_ && recording_.starts_programmatically(command) ? 2 : 1);
  const Command& c = recording_.commands[command];
  for (std::uint32_t i = 0; i < c.access_count; ++i) {
    const BufferAccess& access = recording_.accesses[c.first_access + i];
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
    if (!meets(access, kKinds[kind])) continue;
    for (Source Side::*const which : waits) {
      const Source& wait = state[kind].*which;
      if (wait.node != kNone) builder_.add_edge(wait.node, cause(wait.barrier));
    }
  }
}

void BarrierTracker::note(std::uint32_t command, std::uint32_t node) {
  if (!any_) return;
  list_after_ = kNone;
  const Command& c = recording_.commands[command];
  for (std::uint32_t i = 0; i < c.access_count; ++i) {
    const BufferAccess& access = recording_.accesses[c.first_access + i];
    if (any_global_) note(global_, access.access, node);
    Buffer& buffer = buffers_[access.buffer];
    const Span span = ranges(buffer, access.begin, access.end);
    for (std::size_t r = span.first; r < span.last; ++r)
      note(buffer.states[r], access.access, node);
  }
}

void BarrierTracker::note(State& state, Access access, std::uint32_t node) {
  for (std::size_t kind = 0; kind < 2; ++kind) {
    std::uint32_t& list = state[kind].noted;
    if (!meets(access, kKinds[kind]) || (list != kNone && noted_[list].node == node)) continue;
    if (list_after_ == kNone || list_before_ != list) {
      list_before_ = list;
      list_after_ = static_cast<std::uint32_t>(noted_.size());
      noted_.push_back({node, list});
    }
    list = list_after_;
  }
}

void BarrierTracker::pass(std::uint32_t barrier) {
  const auto& payload = recording_.payload<BarrierPayload>(barrier);
  if (payload.buffer == kNone) {
    pass(std::span(&global_, 1), barrier);
    return;
  }
  Buffer& buffer = buffers_[payload.buffer];
  const Span span = ranges(buffer, payload.begin, payload.end);
  pass(std::span(buffer.states).subspan(span.first, span.last - span.first), barrier);
}

void BarrierTracker::pass(std::span<State> states, std::uint32_t barrier) {
  const auto& payload = recording_.payload<BarrierPayload>(barrier);
  Source Side::*const waiting =
      payload.dependency == Dependency::Full ? &Side::wait : &Side::early_wait;
  // Neighbouring ranges and both kinds often have the same history, and then share the nodes that
  // stand for it.
  std::vector<Source> found;
  Side previous;
  std::uint32_t previous_node = kNone;
  for (State& state : states) {
    for (std::size_t kind = 0; kind < 2; ++kind) {
      if (!meets(payload.before, kKinds[kind])) continue;
      Side& side = state[kind];
      if (side.noted == kNone || side.noted != previous.noted || side.earlier != previous.earlier) {
        previous = side;
        previous_node = gather(side, barrier);
      }
      side.noted = kNone;
      side.earlier = previous_node;
      if (previous_node != kNone) found.push_back({previous_node, kNone});
    }
  }
  parts_ = std::move(found);
  Source all = merge(barrier);
  if (all.node == kNone) return;
  all.barrier = barrier;

  Source old_wait, new_wait;
  for (State& state : states) {
    for (std::size_t kind = 0; kind < 2; ++kind) {
      if (!meets(payload.after, kKinds[kind])) continue;
      Source& wait = state[kind].*waiting;
      if (new_wait.node == kNone || wait != old_wait) {
        old_wait = wait;
        parts_.clear();
        if (wait.node != kNone) parts_.push_back(wait);
        parts_.push_back(all);
        new_wait = merge(barrier);
      }
      wait = new_wait;
    }
  }
}

std::uint32_t BarrierTracker::gather(Side& side, std::uint32_t barrier) {
  if (side.noted == kNone) return side.earlier;
  parts_.clear();
  if (side.earlier != kNone) parts_.push_back({side.earlier, kNone});
  for (std::uint32_t n = side.noted; n != kNone; n = noted_[n].next)
    parts_.push_back({noted_[n].node, kNone});
  return merge(barrier).node;
}

BarrierTracker::Source BarrierTracker::merge(std::uint32_t barrier) {
  std::stable_sort(parts_.begin(), parts_.end(),
                   [](const Source& a, const Source& b) { return a.node < b.node; });
  parts_.erase(std::unique(parts_.begin(), parts_.end(),
                           [](const Source& a, const Source& b) { return a.node == b.node; }),
               parts_.end());
  // Sources that lead straight to another one are left to it, where that is cheap to see.
  std::size_t edges = 0;
  for (const Source& part : parts_) edges += builder_.edges_into(part.node).size();
  if (parts_.size() > 1 && edges <= kCheapEdges) {
    const auto leads_to_another = [&](const Source& part) {
      return std::any_of(parts_.begin(), parts_.end(), [&](const Source& other) {
        const auto into = builder_.edges_into(other.node);
        return std::any_of(into.begin(), into.end(),
                           [&](const Edge& edge) { return edge.from == part.node; });
      });
    };
    // The last never does, so one is left; erasing from the front keeps those that are still looked
    // at.
    for (std::size_t i = parts_.size() - 1; i-- > 0;) {
      if (leads_to_another(parts_[i]))
        parts_.erase(parts_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  if (parts_.empty()) return {};
  if (parts_.size() == 1) return parts_.front();
  const Source join{builder_.begin_join(barrier), kNone};
  for (const Source& part : parts_) builder_.add_edge(part.node, cause(part.barrier));
  builder_.end_node();
  return join;
}

}  // namespace reprise::detail
