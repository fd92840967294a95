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

template <class Key>
using Spans = std::map<Key, std::vector<ReplaySpan>>;
template <class Key>
using Lists = std::map<Key, GrowingList<ReplaySpan>>;

bool starts_before(const ReplaySpan& a, const ReplaySpan& b) { return a.started < b.started; }

template <class Key>
void append_sorted(Spans<Key> added, Lists<Key>& lists) {
  for (auto& [id, spans] : added) {
    std::stable_sort(spans.begin(), spans.end(), starts_before);
    GrowingList<ReplaySpan>& list = lists[id];
    for (const ReplaySpan& span : spans) list.insert_sorted(span, starts_before);
    list.drop_front(kMaxSpans);
  }
}

template <class Key>
void make_rows(Lists<Key>& lists, std::map<Key, ReplayRow>& rows) {
  for (auto& [id, list] : lists) {
    ReplayRow& row = rows[id];
    row.spans = list.view();
    for (const ReplaySpan& span : row.spans) {
      row.busy.add(span.started, span.ended);
      row.by_graph[span.graph].add(span.started, span.ended);
    }
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
  Spans<std::uint32_t> queues, threads;
  Spans<GraphKey> graphs;
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
      if (r.started != 0 && r.ended >= r.started) {
        queues[r.queue].push_back({r.started, r.ended, key, r.replay});
        graphs[key].push_back({r.started, r.ended, key, r.replay});
      } else if (r.launched != 0) {
        graphs[key].push_back({r.launched, r.launched, key, r.replay});
      }
      if (r.launched != 0)
        threads[r.thread].push_back(
            {r.launched, std::max(r.launched, r.launch_returned), key, r.replay});
    }
    consumed = {count, entry.replays.empty() ? consumed.last : entry.replays.back().replay};
  }
  append_sorted(std::move(queues), queues_);
  append_sorted(std::move(threads), threads_);
  append_sorted(std::move(graphs), graphs_);
  return true;
}

Activity ActivityBuilder::extend(const Document& document) {
  if (!consume(document)) {
    *this = ActivityBuilder();
    static_cast<void>(consume(document));
  }
  Activity activity;
  make_rows(queues_, activity.queues);
  make_rows(threads_, activity.threads);
  make_rows(graphs_, activity.graphs);
  std::map<std::uint32_t, std::vector<const ListView<ReplaySpan>*>> by_device;
  for (const auto& [queue, row] : activity.queues)
    by_device[device_of(document, queue)].push_back(&row.spans);
  for (const auto& [device, queues] : by_device) {
    IdleRow& idle = activity.idle[device];
    idle.gaps = idle_of(document, queues);
    for (const IdleGap& gap : idle.gaps)
      idle.by_cause[static_cast<std::size_t>(gap.cause)].add(gap.started, gap.ended);
  }
  return activity;
}

}  // namespace reprise::model
