#include "model/rank_analysis.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "base/quantile_rank.hpp"

namespace reprise::model {

using trace::CollectiveKind;
using trace::kNone;
using trace::Time;

namespace {

// One rank in one execution, before those of the same execution are brought together.
struct RankRun {
  std::uint64_t replay = 0;
  std::uint32_t occurrence = 0, rank = 0;
  Time started = 0, ended = 0;
};

struct RankRuns {
  CollectiveSummary collective;  // without statistics
  std::vector<RankRun> runs;
};

const trace::Collective& record_of(const Document& document, const CollectiveRank& rank) {
  return document.find(rank.graph)->graph->record().collectives[rank.collective];
}

void add_runs(const GraphEntry& entry, const std::vector<std::pair<RankRuns*, std::uint32_t>>& to) {
  for (const trace::CollectiveRun& run : entry.collectives) {
    const auto [target, rank] = to[run.collective];
    if (target != nullptr)
      target->runs.push_back({run.key.replay, run.key.occurrence, rank, run.started, run.ended});
  }
}

DurationSummary summary_of(std::vector<Time>& values) {
  DurationSummary s;
  s.count = values.size();
  if (values.empty()) return s;
  for (const Time value : values) s.total += static_cast<double>(value);
  s.median = detail::quantile_of(values, 0.5);
  s.p99 = detail::quantile_of(values, 0.99);
  s.max = detail::quantile_of(values, 1);
  return s;
}

class ExecutionBuilder {
 public:
  ExecutionBuilder(const Document& document, const CollectiveSummary& collective,
                   const RankClocks& clocks)
      : collective_(collective), clocks_(clocks) {
    for (std::uint32_t r = 0; r < collective.ranks.size(); ++r) {
      const trace::Collective& record = record_of(document, collective.ranks[r]);
      if (record.rank == record.peer) root_ = r;
    }
  }

  CollectiveExecutions build(std::vector<RankRun>& runs) {
    std::sort(runs.begin(), runs.end(), [](const RankRun& a, const RankRun& b) {
      return std::tie(a.replay, a.occurrence, a.rank) < std::tie(b.replay, b.occurrence, b.rank);
    });
    CollectiveExecutions all;
    for (auto at = runs.begin(); at != runs.end();) {
      const auto first = at;
      while (at != runs.end() && at->replay == first->replay && at->occurrence == first->occurrence)
        ++at;
      if (at - first < 2) continue;
      CollectiveExecution e{.replay = first->replay, .occurrence = first->occurrence};
      e.first = static_cast<std::uint32_t>(all.arrivals.size());
      e.count = static_cast<std::uint32_t>(at - first);
      for (auto run = first; run != at; ++run)
        all.arrivals.push_back({run->rank, run->started, run->ended});
      complete(e, all.arrivals.data() + e.first);
      all.executions.push_back(e);
    }
    return all;
  }

 private:
  // The arrival that the others wait for; null: none.
  [[nodiscard]] const Arrival* awaited(const Arrival* first, const Arrival* end) const {
    if (trace::waits_for_all(collective_.kind)) return latest(first, end, kNone);
    const bool is_reduce = collective_.kind == CollectiveKind::Reduce;
    if (!is_reduce && collective_.kind != CollectiveKind::Broadcast) return nullptr;
    const auto root =
        std::find_if(first, end, [this](const Arrival& a) { return a.rank == root_; });
    if (root == end) return nullptr;
    return is_reduce ? latest(first, end, root_) : root;
  }
  static const Arrival* latest(const Arrival* first, const Arrival* end, std::uint32_t without) {
    const Arrival* last = nullptr;
    for (const Arrival* a = first; a != end; ++a) {
      if (a->rank != without && (last == nullptr || a->started > last->started)) last = a;
    }
    return last;
  }
  // Whether the rank waits for `awaited`.
  [[nodiscard]] bool is_waiting(const Arrival& a) const {
    return collective_.kind != CollectiveKind::Reduce || a.rank == root_;
  }

  void complete(CollectiveExecution& e, Arrival* first) {
    Arrival* const end = first + e.count;
    const auto [earliest, latest_start] = std::minmax_element(
        first, end, [](const Arrival& a, const Arrival& b) { return a.started < b.started; });
    e.spread = latest_start->started - earliest->started;
    const Arrival* last = awaited(first, end);
    if (last == nullptr) return;
    times_.clear();
    double waited = 0;
    bool are_all_certain = true, is_any_certain = false;
    for (Arrival* a = first; a != end; ++a) {
      const Time ahead = last->started - a->started;
      a->wait = is_waiting(*a) ? std::max(Time{0}, ahead) : 0;
      waited += static_cast<double>(a->wait);
      if (a == last) continue;
      times_.push_back(a->started);
      if (!is_waiting(*a)) continue;
      const bool is_certain = ahead > clocks_.bound(collective_.ranks[a->rank].session,
                                                    collective_.ranks[last->rank].session);
      are_all_certain = are_all_certain && is_certain;
      is_any_certain = is_any_certain || is_certain;
    }
    e.is_certain = trace::waits_for_all(collective_.kind) ? are_all_certain : is_any_certain;
    e.wait = static_cast<Time>(waited / e.count);
    if (waited > 0) e.last = last->rank;
    e.lateness = last->started - detail::quantile_of(times_, 0.5);
    times_.clear();
    for (const Arrival* a = first; a != end; ++a)
      times_.push_back(std::max(Time{0}, a->ended - a->started - a->wait));
    e.transfer = detail::quantile_of(times_, 0.5);
  }

  const CollectiveSummary& collective_;
  const RankClocks& clocks_;
  std::uint32_t root_ = kNone;
  std::vector<Time> times_;
};

// Fills in the statistics of the collective, and adds to those of its ranks.
void summarise(CollectiveSummary& c, const CollectiveExecutions& all,
               std::vector<RankSummary>& ranks) {
  std::vector<Time> waits, transfers;
  std::vector<std::vector<Time>> of_rank(c.ranks.size());
  c.executions = all.executions.size();
  for (const CollectiveExecution& e : all.executions) {
    c.incomplete += e.count < c.ranks.size() ? 1 : 0;
    if (e.wait < 0) continue;
    waits.push_back(e.wait);
    transfers.push_back(e.transfer);
    double waited = 0;
    for (std::uint32_t i = e.first; i < e.first + e.count; ++i) {
      const Arrival& a = all.arrivals[i];
      of_rank[a.rank].push_back(a.wait);
      waited += static_cast<double>(a.wait);
    }
    if (e.last == kNone) continue;
    CollectiveRank& last = c.ranks[e.last];
    ++last.last;
    last.certainly_last += e.is_certain ? 1 : 0;
    last.caused += waited;
  }
  c.wait = summary_of(waits);
  c.transfer = summary_of(transfers);
  for (std::uint32_t r = 0; r < c.ranks.size(); ++r) {
    CollectiveRank& rank = c.ranks[r];
    rank.wait = summary_of(of_rank[r]);
    if (rank.caused > (c.last == kNone ? 0 : c.ranks[c.last].caused)) c.last = r;
    RankSummary& sum = ranks[rank.session];
    sum.executions += rank.wait.count;
    sum.last += rank.last;
    sum.certainly_last += rank.certainly_last;
    sum.waited += rank.wait.total;
    sum.caused += rank.caused;
  }
}

void add_communication(const Document& document, std::vector<RankSummary>& ranks) {
  std::vector<std::vector<Time>> exposed(ranks.size()), overlapped(ranks.size());
  for (const auto& [key, entry] : document.graphs) {
    if (entry.communication.empty()) continue;
    const std::uint32_t session = document.session_of(key);
    for (const Communication& c : entry.communication) {
      exposed[session].push_back(c.exposed);
      overlapped[session].push_back(c.overlapped());
    }
  }
  for (std::size_t s = 0; s < ranks.size(); ++s) {
    RankSummary& rank = ranks[s];
    rank.replays = exposed[s].size();
    rank.exposed_per_replay = summary_of(exposed[s]);
    rank.overlapped_per_replay = summary_of(overlapped[s]);
    rank.exposed = rank.exposed_per_replay.total;
    rank.overlapped = rank.overlapped_per_replay.total;
  }
}

// All collectives with the executions of each rank.
std::map<CollectiveId, RankRuns> runs_by_collective(const Document& document) {
  std::map<CollectiveId, RankRuns> all;
  std::vector<std::pair<std::uint32_t, GraphKey>> graphs;
  for (const auto& [key, entry] : document.graphs) {
    if (!entry.graph->record().collectives.empty())
      graphs.emplace_back(document.session_of(key), key);
  }
  std::sort(graphs.begin(), graphs.end());
  for (const auto& [session, key] : graphs) {
    const GraphEntry& entry = *document.find(key);
    const auto& collectives = entry.graph->record().collectives;
    std::vector<std::pair<RankRuns*, std::uint32_t>> targets;
    for (std::uint32_t i = 0; i < collectives.size(); ++i) {
      const trace::Collective& record = collectives[i];
      const CollectiveId id{record.communicator, record.number, record.index};
      RankRuns& one = all[id];
      if (one.collective.ranks.empty()) {
        one.collective.id = id;
        one.collective.kind = record.kind;
        one.collective.node = record.node;
        one.collective.name = entry.graph->node_name(record.node);
        one.collective.graph = entry.graph->name();
      }
      targets.emplace_back(&one, static_cast<std::uint32_t>(one.collective.ranks.size()));
      one.collective.ranks.push_back({.session = session, .graph = key, .collective = i});
    }
    add_runs(entry, targets);
  }
  return all;
}

}  // namespace

RankAnalysis rank_analysis(const Document& document) {
  RankAnalysis analysis;
  analysis.ranks.resize(std::max<std::size_t>(1, document.sessions->size()));
  const RankClocks clocks(document);
  analysis.max_error = clocks.max_bound();
  analysis.reference = clocks.reference();
  add_communication(document, analysis.ranks);
  for (auto& [id, one] : runs_by_collective(document)) {
    ExecutionBuilder builder(document, one.collective, clocks);
    summarise(one.collective, builder.build(one.runs), analysis.ranks);
    one.runs = {};
    analysis.collectives.push_back(std::move(one.collective));
  }
  std::stable_sort(analysis.collectives.begin(), analysis.collectives.end(),
                   [](const CollectiveSummary& a, const CollectiveSummary& b) {
                     return a.wait.total > b.wait.total;
                   });
  return analysis;
}

CollectiveExecutions executions_of(const Document& document, const CollectiveSummary& collective) {
  RankRuns runs;
  for (std::uint32_t r = 0; r < collective.ranks.size(); ++r) {
    const CollectiveRank& rank = collective.ranks[r];
    const GraphEntry& entry = *document.find(rank.graph);
    std::vector<std::pair<RankRuns*, std::uint32_t>> targets(
        entry.graph->record().collectives.size());
    targets[rank.collective] = {&runs, r};
    add_runs(entry, targets);
  }
  const RankClocks clocks(document);
  return ExecutionBuilder(document, collective, clocks).build(runs.runs);
}

}  // namespace reprise::model
