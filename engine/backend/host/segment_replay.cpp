#include "backend/host/segment_replay.hpp"

#include <algorithm>
#include <new>
#include <thread>

#include "backend/host/node_clock.hpp"
#include "backend/host/worker_arena.hpp"

namespace reprise::detail {

SegmentReplay::SegmentReplay(HostProgram& program, const Segment& segment,
                             const DeviceGeneration& generation)
    : program_(program),
      segment_(segment),
      generation_(generation),
      lists_(new List[segment.lists()]),
      published_(new std::atomic<std::uint64_t>[segment.nodes]()),
      ended_(new std::atomic<std::uint64_t>[segment.nodes]()) {}

bool SegmentReplay::may_start(const SegmentItem& item) const noexcept {
  const auto waits = segment_.waits_of(item);
  return std::all_of(waits.begin(), waits.end(), [this](std::uint32_t node) {
    const std::uint32_t number = node - segment_.first_node;
    return published_[number].load(std::memory_order_acquire) >=
           runs_ * segment_.item_counts[number];
  });
}

bool SegmentReplay::advance(std::uint32_t number, const Replay& replay) noexcept {
  List& list = lists_[number];
  bool has_run = false;
  for (; list.next < segment_.first_item[number + 1]; ++list.next, has_run = true) {
    const SegmentItem& item = segment_.items[list.next];
    if (generation_.is_lost() || !may_start(item)) return has_run;
    const std::int64_t started = replay.is_timed ? steady_now() : 0;
    program_.run_blocks(item, replay.number);
    if (replay.is_timed) times_[list.next] = {started, steady_now(), WorkerArena::worker()};
    const std::uint32_t node = item.node - segment_.first_node;
    if (ended_[node].fetch_add(1, std::memory_order_acq_rel) + 1 ==
        runs_ * segment_.item_counts[node])
      program_.end_blocks(item.node, replay.number, replay.errors);
    if (item.publishes) published_[node].fetch_add(1, std::memory_order_acq_rel);
  }
  open_.fetch_sub(1, std::memory_order_acq_rel);
  return has_run;
}

void SegmentReplay::run_lists(std::uint32_t first, const Replay& replay) noexcept {
  const std::uint32_t lists = segment_.lists();
  while (open_.load(std::memory_order_acquire) != 0 && !generation_.is_lost()) {
    bool has_run = false;
    for (std::uint32_t i = 0; i < lists; ++i) {
      const std::uint32_t number = (first + i) % lists;
      List& list = lists_[number];
      if (list.is_taken.exchange(true, std::memory_order_acquire)) continue;
      if (list.next < segment_.first_item[number + 1]) has_run = advance(number, replay) || has_run;
      list.is_taken.store(false, std::memory_order_release);
    }
    if (!has_run) std::this_thread::yield();
  }
}

void SegmentReplay::run(WorkerArena& workers, std::uint64_t number, CallbackErrors& errors,
                        NodeTime* times) noexcept {
  ++runs_;
  for (std::uint32_t list = 0; list < segment_.lists(); ++list)
    lists_[list].next = segment_.first_item[list];
  open_.store(segment_.lists(), std::memory_order_release);
  if (times != nullptr && times_.empty()) {
    try {
      times_.resize(segment_.items.size());
    } catch (const std::bad_alloc&) {
      times = nullptr;  // this replay is not timed
    }
  }
  const Replay replay{number, errors, times != nullptr};
  const std::uint32_t threads = std::min(workers.threads(), segment_.lists());
  const auto run_from = [&](std::uint32_t i) { run_lists(i * segment_.lists() / threads, replay); };
  if (threads > 1) {
    workers.run_each(threads, run_from);
  } else {
    run_from(0);
  }
  if (replay.is_timed && !generation_.is_lost()) write_times(times);
}

// A node starts with its first item and ends with its last one.
void SegmentReplay::write_times(NodeTime* times) const noexcept {
  std::fill_n(times + segment_.first_node, segment_.nodes, NodeTime{});
  for (std::size_t i = 0; i < segment_.items.size(); ++i) {
    const ItemTime& item = times_[i];
    NodeTime& node = times[segment_.items[i].node];
    const bool is_first = node.started == 0;
    const std::int64_t started = is_first ? item.started : std::min(node.started, item.started),
                       ended = is_first ? item.ended
                                        : std::max(node.started + node.duration, item.ended);
    node = node_time(started, ended, is_first ? item.worker : node.worker);
  }
}

}  // namespace reprise::detail
