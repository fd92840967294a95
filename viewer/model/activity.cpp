#include "model/activity.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

namespace reprise::model {

using trace::Replay;
using trace::Time;

namespace {

constexpr std::size_t kMaxSpans = 4u << 20;  // kept per queue and thread in a long live session

using Spans = std::map<std::uint32_t, std::vector<ReplaySpan>>;
using Lists = std::map<std::uint32_t, GrowingList<ReplaySpan>>;

bool starts_before(const ReplaySpan& a, const ReplaySpan& b) { return a.started < b.started; }

void append_sorted(Spans added, Lists& lists) {
  for (auto& [id, spans] : added) {
    std::stable_sort(spans.begin(), spans.end(), starts_before);
    GrowingList<ReplaySpan>& list = lists[id];
    for (const ReplaySpan& span : spans) list.insert_sorted(span, starts_before);
    list.drop_front(kMaxSpans);
  }
}

void add_idle(const Document& document, const ReplaySpan& next, Time since,
              std::vector<IdleGap>& idle) {
  const Replay* const replay = document.find_replay(next.graph, next.replay);
  const Time launched = replay == nullptr ? 0 : replay->launched;
  IdleGap gap{since,       next.started,       next.graph,
              next.replay, IdleCause::Unknown, replay == nullptr ? 0 : replay->thread};
  if (launched == 0) return idle.push_back(gap);
  if (launched > since) {
    gap.cause = IdleCause::Host;
    gap.ended = std::min(launched, next.started);
    idle.push_back(gap);
    gap.started = gap.ended;
    gap.ended = next.started;
  }
  gap.cause = IdleCause::Launch;
  if (gap.ended > gap.started) idle.push_back(gap);
}

// The periods without a replay on any of the queues.
std::vector<IdleGap> idle_of(const Document& document,
                             const std::vector<const ListView<ReplaySpan>*>& queues) {
  struct Head {
    const ListView<ReplaySpan>* list;
    std::size_t at;
    bool operator>(const Head& other) const {
      return (*list)[at].started > (*other.list)[other.at].started;
    }
  };
  std::priority_queue<Head, std::vector<Head>, std::greater<>> heads;
  for (const ListView<ReplaySpan>* list : queues) {
    if (!list->empty()) heads.push({list, 0});
  }
  std::vector<IdleGap> idle;
  Time busy_until = 0;
  while (!heads.empty()) {
    Head head = heads.top();
    heads.pop();
    const ReplaySpan& span = (*head.list)[head.at];
    if (busy_until != 0 && span.started > busy_until) add_idle(document, span, busy_until, idle);
    busy_until = std::max(busy_until, span.ended);
    if (++head.at < head.list->size()) heads.push(head);
  }
  return idle;
}

}  // namespace

std::uint32_t device_of(const Document& document, std::uint32_t queue) {
  const auto found = document.queues->find(queue);
  return found == document.queues->end() ? 0 : found->second.device;
}

bool ActivityBuilder::consume(const Document& document) {
  Spans queues, threads;
  for (const auto& [key, entry] : document.graphs) {
    Consumed& consumed = consumed_[key];
    const std::uint64_t count = entry.dropped_replays + entry.replays.size();
    if (count == consumed.count) continue;
    const std::size_t first =
        consumed.count == 0
            ? 0
            : entry.replays.lower_bound(consumed.last, [](const Replay& r, std::uint64_t last) {
                return r.replay <= last;
              });
    if (consumed.count != 0 && consumed.count + entry.replays.size() - first != count) return false;
    for (std::size_t i = first; i < entry.replays.size(); ++i) {
      const Replay& r = entry.replays[i];
      if (r.started != 0 && r.ended >= r.started)
        queues[r.queue].push_back({r.started, r.ended, key, r.replay});
      if (r.launched != 0)
        threads[r.thread].push_back(
            {r.launched, std::max(r.launched, r.launch_returned), key, r.replay});
    }
    consumed = {count, entry.replays.empty() ? consumed.last : entry.replays.back().replay};
  }
  append_sorted(std::move(queues), queues_);
  append_sorted(std::move(threads), threads_);
  return true;
}

Activity ActivityBuilder::extend(const Document& document) {
  if (!consume(document)) {
    *this = ActivityBuilder();
    static_cast<void>(consume(document));
  }
  Activity activity;
  std::map<std::uint32_t, std::vector<const ListView<ReplaySpan>*>> by_device;
  for (auto& [queue, list] : queues_) {
    const auto& view = activity.queues[queue] = list.view();
    by_device[device_of(document, queue)].push_back(&view);
  }
  for (auto& [thread, list] : threads_) activity.threads[thread] = list.view();
  for (const auto& [device, queues] : by_device) activity.idle[device] = idle_of(document, queues);
  return activity;
}

}  // namespace reprise::model
