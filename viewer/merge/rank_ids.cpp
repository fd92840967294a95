#include "merge/rank_ids.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "base/steady_clock.hpp"
#include "merge/clock_fit.hpp"

namespace reprise::trace {

Time aligned(const ClockAlignment& alignment, Time own) noexcept {
  if (own == 0) return 0;
  const double drift = alignment.drift * static_cast<double>(own - alignment.at);
  const Time time = own + std::clamp(alignment.offset, -kMaxTime, kMaxTime) +
                    static_cast<Time>(std::llround(drift));
  return time == 0 ? 1 : std::clamp(time, -kMaxTime, kMaxTime);
}

void RankConverter::align(Time& time) const { time = aligned(alignment_, time); }

void RankConverter::map(IdKind kind, std::uint32_t& id) {
  if (id == kNone) return;
  const auto [entry, is_new] = mapped_[static_cast<std::size_t>(kind)].try_emplace(id, 0);
  if (is_new) entry->second = ids_.next(kind);
  id = entry->second;
}

void RankConverter::name_thread(std::vector<ThreadName>& names, std::uint32_t own) {
  if (own == kNone || mapped_[static_cast<std::size_t>(IdKind::Thread)].contains(own)) return;
  std::uint32_t thread = own;
  map(IdKind::Thread, thread);
  names.push_back({thread, "thread " + std::to_string(own), alignment_.session});
}

template <class R>
void RankConverter::convert(R& record) {
  for (const auto& [kind, id] : kIds<R>) map(kind, record.*id);
  for (const auto moment : kMoments<R>) align(record.*moment);
  if constexpr (kSession<R> != nullptr) record.*kSession<R> = alignment_.session;
}

void RankConverter::convert(Records& r) {
  r.clock_exchanges.clear();
  r.clock_alignments.clear();
  if (alignment_.session != alignment_.reference)
    std::erase_if(r.clocks, [](const Clock& clock) { return clock.device == kNone; });
  for (Clock& c : r.clocks) align(c.host);
  std::vector<ThreadName> names = std::exchange(r.thread_names, {});
  for (ThreadName& n : names) convert(n);  // before what refers to threads
  for (const Replay& p : r.replays) name_thread(names, p.thread);
  for (const HostRange& h : r.host_ranges) name_thread(names, h.thread);
  Records::each([&](auto kind) {
    for (auto& record : r.*kind) convert(record);
  });
  r.thread_names = std::move(names);
  for (GraphVersion& g : r.graph_versions)
    for (Buffer& b : g.buffers) convert(b);
  for (SampleBlock& b : r.sample_blocks) {
    map(IdKind::Graph, b.graph);
    for (Sample& s : b.samples) {
      if (s.started == 0) continue;
      // Both ends, so that samples that follow each other still do. A saturated duration stays.
      const Time end = aligned(alignment_, s.started + s.duration);
      align(s.started);
      if (s.duration != std::numeric_limits<std::uint32_t>::max())
        s.duration = detail::saturated_ns(end - s.started);
    }
  }
  for (Ended& e : r.ended) {
    switch (e.kind) {
      case ObjectKind::Queue: map(IdKind::Queue, e.id); break;
      case ObjectKind::Graph: map(IdKind::Graph, e.id); break;
      case ObjectKind::Pool: map(IdKind::Pool, e.id); break;
    }
  }
}

}  // namespace reprise::trace
