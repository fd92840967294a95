#include "model/rank_analysis.hpp"

#include <algorithm>
#include <map>
#include <span>
#include <tuple>
#include <utility>

#include "base/quantile_rank.hpp"
#include "model/collective_waits.hpp"

namespace reprise::model {

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
    for (const CollectiveRank& rank : collective.ranks)
      calls_.push_back(&document.find(rank.graph)->graph->record().collectives[rank.collective]);
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
  void complete(CollectiveExecution& e, Arrival* first) {
    const auto arrivals = std::span(first, e.count);
    const auto [earliest, latest] = std::minmax_element(
        arrivals.begin(), arrivals.end(),
        [](const Arrival& a, const Arrival& b) { return a.started < b.started; });
    e.spread = latest->started - earliest->started;
    AwaitedArrival awaited;
    for (std::uint32_t i = 0; i < e.count; ++i) awaited.add(call_of(first[i]), i, first[i].started);
    if (!awaited.has_waits()) return;
    const Arrival& last = first[awaited.member];
    times_.clear();
    double waited = 0;
    bool is_certainly_last = true, is_any_certain = false;
    for (Arrival& a : arrivals) {
      a.wait = awaited.wait_of(call_of(a), a.started, a.ended);
      waited += static_cast<double>(a.wait);
      if (&a == &last) continue;
      times_.push_back(a.started);
      const WaitRole role = wait_role(call_of(a));
      const bool is_certain =
          clocks_.is_certain(last.started - a.started, collective_.ranks[a.rank].session,
                             collective_.ranks[last.rank].session);
      is_certainly_last = is_certainly_last && (is_certain || !role.is_awaited);
      is_any_certain = is_any_certain || (is_certain && role.waits);
    }
    e.is_certain = is_certainly_last && is_any_certain;
    e.wait = static_cast<Time>(waited / e.count);
    if (waited > 0) e.last = last.rank;
    e.lateness = last.started - detail::quantile_of(times_, 0.5);
    times_.clear();
    for (const Arrival& a : arrivals) times_.push_back(a.ended - a.started - a.wait);
    e.transfer = detail::quantile_of(times_, 0.5);
  }
  [[nodiscard]] const trace::Collective& call_of(const Arrival& arrival) const {
    return *calls_[arrival.rank];
  }

  const CollectiveSummary& collective_;
  const RankClocks& clocks_;
  std::vector<const trace::Collective*> calls_;  // by rank
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
  for (std::uint32_t s = 0; s < analysis.ranks.size(); ++s) {
    const double most = analysis.worst == kNone ? 0 : analysis.ranks[analysis.worst].caused;
    if (analysis.ranks[s].caused > most) analysis.worst = s;
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
