// The replays of an observed program, and the records that are ready.
#include <algorithm>
#include <utility>

#include "injection/observed_program.hpp"

namespace reprise::detail {
namespace {

constexpr std::size_t kMaxUnmatched = 16384, kKeptEvents = 16384;

}  // namespace

ObservedProgram::Order ObservedProgram::launched(const Launch& launch, Nodes nodes) {
  const std::lock_guard lock(mutex_);
  const Exec exec = find(launch.exec);
  ++hooks_.launches;
  if (!exec) {
    ++lost_replays_;
    return Order::Later;
  }
  trace::Replay replay;
  replay.graph = exec->identity().graph;
  replay.version = kObservedVersion;
  const auto queue = queues_.find(launch.stream);
  replay.queue = queue == queues_.end() ? 0 : queue->second;
  replay.replay = ++exec->replays;
  replay.launched = launch.started;
  replay.launch_returned = launch.returned;
  replay.thread = launch.thread;
  if (launch.stack != nullptr) {
    exec->count_launch(launch.stack);
    if (std::exchange(exec->is_current, false)) undescribed_.push_back(exec);
  }
  if (waits_ != nullptr) waits_->launched(launch.stream, replay.graph, replay.replay);
  const Order order = replay.replay == 1 ? Order::First : Order::Later;
  if (nodes == Nodes::Unrecorded || launch.correlation == 0) {
    push(replay);
    return order;
  }
  if (!exec->has_pending()) pending_execs_.push_back(exec);
  exec->expect(replay, launch.correlation);
  const PendingReplay pending{exec, replay.replay};
  by_correlation_[launch.correlation] = pending;
  deliver_unmatched(pending, launch.correlation, launch.returned);
  return order;
}

void ObservedProgram::first_launch_ended(std::uint64_t handle, trace::Time duration, MemoryUse used,
                                         trace::Time at) {
  const std::lock_guard lock(mutex_);
  if (const Exec exec = find(handle)) add_launch_cost(*exec, duration, used, at);
}

void ObservedProgram::deliver_unmatched(const PendingReplay& pending, std::uint32_t correlation,
                                        trace::Time now) {
  std::erase_if(unmatched_runs_, [&](UnmatchedRun& unmatched) {
    if (unmatched.run.correlation != correlation) return false;
    unmatched.run.kernel = unmatched.kernel;
    pending.exec->take(unmatched.run, pending.replay, now);
    return true;
  });
}

void ObservedProgram::ran(const std::vector<ObservedRun>& runs, trace::Time now) {
  constexpr std::size_t kPart = 64;  // so that no call of the program waits for all
  for (std::size_t at = 0; at < runs.size();) {
    const std::lock_guard lock(mutex_);
    for (const std::size_t end = std::min(runs.size(), at + kPart); at < end; ++at)
      take_run(runs[at], now);
  }
}

void ObservedProgram::take_run(const ObservedRun& run, trace::Time now) {
  if (run.started == 0 || run.ended == 0) ++lost_times_;
  ++hooks_.nodes;
  if (run.correlation == 0) {  // only the executable is known
    const auto exec = std::find_if(
        pending_execs_.begin(), pending_execs_.end(),
        [&](const Exec& one) { return one->identity().profiler_id == run.node >> 32; });
    if (exec != pending_execs_.end()) (*exec)->take_unnumbered(run, now);
    return;
  }
  const auto launch = by_correlation_.find(run.correlation);
  if (launch != by_correlation_.end()) {
    launch->second.exec->take(run, launch->second.replay, now);
  } else if (unmatched_runs_.size() < kMaxUnmatched) {
    unmatched_runs_.push_back({run, std::string(run.kernel)});
  } else {
    unmatched_runs_.erase(
        unmatched_runs_.begin(),
        unmatched_runs_.begin() + kMaxUnmatched / 2);  // their launches were probably not observed
  }
}

void ObservedProgram::collect(trace::Time now, ObservedExec::Outstanding outstanding,
                              std::vector<trace::Record>& records) {
  std::vector<Picture> pictures;
  std::vector<ObservedExec::Complete> complete;
  std::vector<Event> ends;
  {
    const std::lock_guard lock(mutex_);
    switch (outstanding) {
      case ObservedExec::Outstanding::Expected:
        take_pictures(Which::Due, now);
        memory_.collect(now, records);
        break;
      case ObservedExec::Outstanding::Complete:
        take_pictures(Which::All, now);
        memory_.finish(now, records);
        break;
    }
    pictures.swap(pictures_);
    taken_.swap(events_);
    std::erase_if(pending_execs_, [&](const Exec& exec) {
      exec->collect(now, outstanding, complete);
      if (exec->has_pending()) return false;
      if (exec->is_destroyed)
        events_.emplace_back(trace::Ended{now, trace::ObjectKind::Graph, exec->identity().graph});
      return true;
    });
    hooks_.replays += complete.size();
    for (const ObservedExec::Complete& one : complete) by_correlation_.erase(one.correlation);
    collect_losses(now);
    ends.swap(events_);
  }
  for (const Picture& picture : pictures) records.emplace_back(describe(picture));
  {
    const std::lock_guard lock(mutex_);  // after it, executables may change these graphs themselves
    for (Picture& picture : pictures) picture.graph.reset();
  }
  move_to(records, taken_);
  if (taken_.capacity() > kKeptEvents) taken_ = {};
  for (ObservedExec::Complete& one : complete) ObservedExec::add_records(std::move(one), records);
  move_to(records, ends);
}

void ObservedProgram::move_to(std::vector<trace::Record>& records, std::vector<Event>& events) {
  for (Event& event : events)
    std::visit([&](auto& one) { records.emplace_back(std::move(one)); }, event);
  events.clear();
}

void ObservedProgram::collect_losses(trace::Time now) {
  const auto tell = [&](std::uint64_t& count, trace::LossKind kind, const char* why) {
    if (count != 0) events_.emplace_back(trace::Loss{now, kind, std::exchange(count, 0), why});
  };
  tell(lost_replays_, trace::LossKind::Replays,
       "launches of graphs that are not described, or more than could be written");
  tell(lost_events_, trace::LossKind::Events, "more than could be written");
  tell(lost_times_, trace::LossKind::ZeroTimestamps, "the profiler reported no times");
}

HookCounts ObservedProgram::take_hooks() {
  const std::lock_guard lock(mutex_);
  return std::exchange(hooks_, {});
}

}  // namespace reprise::detail
