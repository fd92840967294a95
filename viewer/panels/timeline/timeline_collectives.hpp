// Collectives among the nodes of a timeline: how long a rank waited in one for another rank, and
// the transfer from then on. Threads: the drawing thread's.
#pragma once

#include "panels/timeline/timeline_draw_context.hpp"

namespace reprise::viewer {

// One execution of a collective on one rank.
struct TimelineCollective {
  const trace::Collective* call = nullptr;         // null: the node is no collective
  const model::AwaitedArrival* awaited = nullptr;  // null: no statement
  std::uint32_t session = 0;                       // of the rank
  trace::Time started = 0, ended = 0;
  bool is_certain = false;  // the clocks prove that the awaited rank arrived later
  [[nodiscard]] trace::Time waiting() const {
    return awaited == nullptr ? 0 : awaited->wait_of(*call, started, ended);
  }
};
[[nodiscard]] TimelineCollective collective_of(const TimelineDrawContext& dc,
                                               const TimelineScene& scene,
                                               const model::TimelineItem& item);

// Marks the box of a collective: a frame, and hatching over the waiting part, which stays filled
// unless the wait is certain. Returns the box of the transfer.
TimelineBox draw_timeline_collective(const TimelineDrawContext& dc, const TimelineBox& box,
                                     const TimelineCollective& one, ImU32 fill);
// A line through all rows at the awaited arrival at the collective under the mouse.
void draw_awaited_arrival(const TimelineDrawContext& dc);
// The fields of a tooltip; the values start at `x`.
void draw_collective_fields(const TimelineDrawContext& dc, const TimelineCollective& one, float x);
// "12.3 us", or "below the clock error of 15.0 us" if the difference of the times of two ranks is.
[[nodiscard]] std::string between_ranks_text(const TimelineRanks& ranks, trace::Time difference,
                                             std::uint32_t session, std::uint32_t other);

}  // namespace reprise::viewer
