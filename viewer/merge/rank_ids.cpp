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

void RankConverter::map_thread(Records& records, std::uint32_t& thread) {
  const std::uint32_t own = thread;
  auto& threads = mapped_[static_cast<std::size_t>(IdKind::Thread)];
  const std::size_t known = threads.size();
  map(IdKind::Thread, thread);
  if (threads.size() != known)
    records.thread_names.push_back({thread, "thread " + std::to_string(own), alignment_.session});
}

void RankConverter::convert(Records& r) {
  r.clock_exchanges.clear();
  r.clock_alignments.clear();
  if (alignment_.session != alignment_.reference)
    std::erase_if(r.clocks, [](const Clock& clock) { return clock.device == kNone; });
  for (Clock& c : r.clocks) {
    map_device(c.device);
    align(c.host);
  }
  for (Device& d : r.devices) {
    map_device(d.id);
    d.session = alignment_.session;
  }
  for (Queue& q : r.queues) {
    map(IdKind::Queue, q.id);
    map_device(q.device);
  }
  for (ThreadName& n : r.thread_names) {  // before what refers to threads
    map(IdKind::Thread, n.thread);
    n.session = alignment_.session;
  }
  for (GraphVersion& g : r.graph_versions) {
    map_graph(g.graph);
    map_device(g.device);
    align(g.compiled);
    for (Buffer& b : g.buffers) {
      map(IdKind::Buffer, b.id);
      map_pool(b.pool);
    }
  }
  for (Replay& p : r.replays) {
    map_graph(p.graph);
    map(IdKind::Queue, p.queue);
    map_thread(r, p.thread);
    for (Time* time : {&p.launched, &p.launch_returned, &p.started, &p.ended}) align(*time);
  }
  for (SampleBlock& b : r.sample_blocks) {
    map_graph(b.graph);
    for (Sample& s : b.samples) {
      if (s.started == 0) continue;
      // Both ends, so that samples that follow each other still do. A saturated duration stays.
      const Time end = aligned(alignment_, s.started + s.duration);
      align(s.started);
      if (s.duration != std::numeric_limits<std::uint32_t>::max())
        s.duration = detail::saturated_ns(end - s.started);
    }
  }
  for (HostRange& h : r.host_ranges) {
    map_thread(r, h.thread);
    map_graph(h.graph);
    align(h.started);
    align(h.ended);
  }
  for (PoolState& p : r.pool_states) {
    map_pool(p.pool);
    map_device(p.device);
    align(p.at);
  }
  for (BufferLifetime& b : r.buffer_lifetimes) {
    map(IdKind::Buffer, b.buffer);
    map_pool(b.pool);
    map_device(b.device);
    align(b.allocated);
    align(b.freed);
  }
  for (Message& m : r.messages) {
    map_graph(m.graph);
    align(m.at);
    m.session = alignment_.session;
  }
  for (Update& u : r.updates) {
    map_graph(u.graph);
    align(u.at);
  }
  for (Loss& l : r.losses) {
    align(l.at);
    l.session = alignment_.session;
  }
  for (ProfilingOverhead& o : r.profiling_overheads) {
    align(o.from);
    align(o.to);
  }
  for (LoopRun& l : r.loop_runs) map_graph(l.graph);
  for (DeviceTotals& d : r.device_totals) {
    map_device(d.device);
    align(d.at);
  }
  for (PoolUse& u : r.pool_uses) {
    map_pool(u.pool);
    map_graph(u.graph);
    align(u.from);
    align(u.to);
  }
  for (Ended& e : r.ended) {
    switch (e.kind) {
      case ObjectKind::Queue: map(IdKind::Queue, e.id); break;
      case ObjectKind::Graph: map_graph(e.id); break;
      case ObjectKind::Pool: map_pool(e.id); break;
    }
    align(e.at);
  }
  for (CreationCost& c : r.creation_costs) {
    map_graph(c.graph);
    align(c.at);
  }
}

}  // namespace reprise::trace
