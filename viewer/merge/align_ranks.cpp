#include "merge/align_ranks.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <optional>

#include "base/split_mix.hpp"
#include "merge/rank_list.hpp"

namespace reprise::trace {

namespace {

constexpr Time kMaxDuration = std::numeric_limits<std::uint32_t>::max();  // of a sample
constexpr double kMaxTraceDrift = 1e-3;                                   // see decode()

std::uint64_t mixed(std::uint64_t hash, std::uint64_t part) {
  return detail::SplitMix64(hash ^ part).next();
}

std::uint64_t hash(const CollectiveKey& key) {
  std::uint64_t h = 0;
  for (const std::uint64_t part :
       {key.communicator, key.number, key.replay, std::uint64_t{key.index} << 32 | key.occurrence})
    h = mixed(h, part);
  return h;
}

Time limited(Time time) { return std::clamp(time, -kMaxTime, kMaxTime); }

// The error bound of a line for times up to `beyond` outside of the range that it was fitted to.
Time error_beyond(const ClockLine& line, const TimeRange& range, Time beyond) {
  const double length = static_cast<double>(std::max<Time>(range.last - range.first, 1));
  const double slope = std::min(2 * static_cast<double>(line.error) / length, 2 * kMaxDrift);
  return line.error + static_cast<Time>(std::ceil(slope * static_cast<double>(beyond)));
}

// own to other, then other to the reference. `range`: of own times; `fitted`: of other times.
ClockLine compose(const ClockLine& own, const TimeRange& range, const ClockLine& other,
                  const TimeRange& fitted) {
  const auto to_other = [&](Time t) {
    return limited(t + own.offset + std::llround(own.drift * static_cast<double>(t - own.at)));
  };
  const Time beyond =
      std::max({Time{0}, fitted.first - to_other(range.first), to_other(range.last) - fitted.last});
  const Time at = to_other(own.at);
  ClockLine line{own.at,
                 limited(own.offset + other.offset +
                         std::llround(other.drift * static_cast<double>(at - other.at))),
                 own.drift + other.drift + own.drift * other.drift, 0};
  const Time other_error = error_beyond(other, fitted, beyond);
  const auto own_error = static_cast<Time>(static_cast<double>(own.error) * (1 + kMaxDrift)) + 2;
  line.error = std::min(own_error + other_error, kUnknownError);
  if (std::abs(line.drift) > kMaxTraceDrift) line.error = kUnknownError;
  line.drift = std::clamp(line.drift, -kMaxTraceDrift, kMaxTraceDrift);
  return line;
}

}  // namespace

void extend(TimeRange& range, const TimeRange& by) noexcept {
  if (by.first == 0 && by.last == 0) return;
  const bool is_first = range.first == 0 && range.last == 0;
  range = {is_first ? by.first : std::min(range.first, by.first),
           is_first ? by.last : std::max(range.last, by.last)};
}

void RankTopology::add(const Records& topology) {
  for (const Session& s : topology.sessions) session = s;
  for (const Clock& c : topology.clocks) {
    if (c.device != kNone) {
      Time& error = device_errors[c.device];
      error = std::max(error, c.error);
    } else if (utc_offset == 0) {
      utc_offset = limited(c.other - c.host);
    }
  }
  for (const GraphVersion& graph : topology.graph_versions) {
    std::map<std::uint64_t, std::uint64_t> kinds;  // by number
    for (const Collective& c : graph.collectives) {
      communicators.insert(c.communicator);
      if (c.communicator != 0) continue;
      std::uint64_t& all = kinds[c.number];
      all = mixed(all, std::uint64_t{static_cast<std::uint8_t>(c.kind)} << 32 | c.ranks);
    }
    signatures.insert(signatures.end(), kinds.begin(), kinds.end());
  }
}

RankAligner::RankAligner(const std::vector<RankTopology>& sessions, std::size_t max_runs)
    : max_runs_(max_runs) {
  std::map<std::string, std::uint32_t> named;
  // Collectives without a communicator match if the ranks have the same ones in each graph. By
  // number: a rank, and the hash of its kinds.
  std::map<std::uint64_t, std::pair<std::uint32_t, std::uint64_t>> known;
  for (const RankTopology& topology : sessions) {
    const Session& session = topology.session;
    auto clock = static_cast<std::uint32_t>(clocks_.size());
    if (!session.clock.empty()) clock = named.try_emplace(session.clock, clock).first->second;
    if (clock == clocks_.size()) clocks_.emplace_back();
    clocks_[clock].ranks.push_back(session.rank);
    if (clocks_[clock].utc_offset == 0) clocks_[clock].utc_offset = topology.utc_offset;
    clock_of_rank_[session.rank] = clock;
    for (const std::uint64_t communicator : topology.communicators) {
      const auto entry = communicators_.try_emplace(communicator, clock, false).first;
      if (entry->second.first != clock) entry->second.second = true;
    }
    for (const auto& [number, kinds] : topology.signatures) {
      const auto& [rank, own] = known.try_emplace(number, session.rank, kinds).first->second;
      if (own != kinds) unequal_.try_emplace(number, rank, session.rank);
    }
    members_.push_back({session.rank, session.ranks, clock, topology.device_errors});
  }
}

bool RankAligner::is_usable(const Member& member, const Collective& c) const {
  if (!waits_for_all(c.kind)) return false;
  const auto communicator = communicators_.find(c.communicator);
  if (communicator == communicators_.end() || !communicator->second.second) return false;
  // A part of the ranks has no identity without a communicator.
  return is_matched(c) && (c.communicator != 0 || c.ranks == 0 || c.ranks == member.ranks);
}

void RankAligner::add_records(std::uint32_t session, const Records& records) {
  if (session != session_) graphs_.clear();
  session_ = session;
  const Member& member = members_[session];
  for (const GraphVersion& graph : records.graph_versions) {
    GraphVersion kept;
    kept.device = graph.device;
    for (const Collective& c : graph.collectives) {
      if (is_usable(member, c)) kept.collectives.push_back(c);
    }
    if (!kept.collectives.empty()) graphs_[{graph.graph, graph.version}] = std::move(kept);
  }
  for (const ClockExchange& exchange : records.clock_exchanges)
    add_exchange(member.clock, exchange);
  for (const SampleBlock& block : records.sample_blocks) {
    const auto graph = graphs_.find({block.graph, block.version});
    if (graph != graphs_.end()) add_runs(member, graph->second, block);
  }
}

void RankAligner::add_exchange(std::uint32_t clock, const ClockExchange& e) {
  const auto other = clock_of_rank_.find(e.rank);
  if (other == clock_of_rank_.end() || other->second == clock || e.received < e.sent) return;
  Exchanges& there = exchanges_[{clock, other->second}];
  there.fit.add_lower(e.received, e.other - e.received);
  there.fit.add_upper(e.sent, e.other - e.sent);
  ++there.count;
  Exchanges& back = exchanges_[{other->second, clock}];
  back.fit.add_lower(e.other, e.sent - e.other);
  back.fit.add_upper(e.other, e.received - e.other);
  ++back.count;
}

void RankAligner::add_runs(const Member& member, const GraphVersion& graph,
                           const SampleBlock& block) {
  const auto device = member.device_errors.find(graph.device);
  const Time error = device == member.device_errors.end() ? 0 : device->second;
  auto& runs = clocks_[member.clock].runs;
  for (const CollectiveRun& run : collective_runs(graph, block)) {
    const std::uint64_t key = hash(run.key);
    const bool is_saturated = run.ended - run.started >= kMaxDuration;  // it ended later
    if ((key & hash_mask_) != 0 || is_saturated) continue;
    const Run own{limited(run.started - error), limited(run.ended + error), limited(run.ended)};
    const auto [entry, is_new] = runs.try_emplace(key, own);
    Run& all = entry->second;
    all = {std::max(all.latest_start, own.latest_start),
           std::min(all.earliest_end, own.earliest_end), std::min(all.end, own.end)};
    if (!is_new || ++runs_ <= max_runs_) continue;
    hash_mask_ = hash_mask_ * 2 + 1;
    runs_ = 0;
    for (HostClock& clock : clocks_) {
      std::erase_if(clock.runs, [&](const auto& r) { return (r.first & hash_mask_) != 0; });
      runs_ += clock.runs.size();
    }
  }
}

// Without exchanges and collectives: unrelated.
RankAligner::Relation RankAligner::relate(std::uint32_t own, std::uint32_t other) const {
  const auto exchanges = exchanges_.find({own, other});
  ClockFit fit = exchanges == exchanges_.end() ? ClockFit() : exchanges->second.fit;
  Relation relation;
  relation.exchanges = exchanges == exchanges_.end() ? 0 : exchanges->second.count;
  for (const auto& [key, run] : clocks_[own].runs) {
    const auto found = clocks_[other].runs.find(key);
    if (found == clocks_[other].runs.end()) continue;
    const Run& there = found->second;
    fit.add_lower(run.earliest_end, there.latest_start - run.earliest_end);
    fit.add_upper(run.latest_start, there.earliest_end - run.latest_start);
    fit.add_estimate(run.end, there.end - run.end);
    ++relation.collectives;
  }
  if (fit.is_bounded()) relation.line = fit.line(clocks_[own].range.first, clocks_[own].range.last);
  return relation;
}

std::vector<ClockAlignment> RankAligner::align(const std::vector<TimeRange>& ranges) {
  for (std::size_t i = 0; i < members_.size(); ++i)
    extend(clocks_[members_[i].clock].range, ranges[i]);
  warn_about_kinds();

  // Breadth first from the clock of the reference.
  std::vector<std::optional<Relation>> relations(clocks_.size());
  relations[0].emplace();
  std::deque<std::uint32_t> next{0};
  for (; !next.empty(); next.pop_front()) {
    const std::uint32_t other = next.front();
    for (std::uint32_t own = 0; own < clocks_.size(); ++own) {
      if (relations[own]) continue;
      Relation relation = relate(own, other);
      if (relation.exchanges + relation.collectives == 0) continue;
      if (other != 0) {
        const Relation& through = *relations[other];
        relation.line =
            compose(relation.line, clocks_[own].range, through.line, clocks_[other].range);
        relation.exchanges += through.exchanges;
        relation.collectives += through.collectives;
      }
      relations[own] = relation;
      next.push_back(own);
    }
  }

  std::vector<std::uint32_t> unrelated;  // ranks
  for (std::size_t clock = 0; clock < clocks_.size(); ++clock) {
    if (relations[clock]) continue;
    const HostClock& own = clocks_[clock];
    unrelated.insert(unrelated.end(), own.ranks.begin(), own.ranks.end());
    const bool has_utc = own.utc_offset != 0 && clocks_[0].utc_offset != 0;
    relations[clock] = Relation{
        {0, has_utc ? limited(own.utc_offset - clocks_[0].utc_offset) : 0, 0, kUnknownError}};
  }
  if (!unrelated.empty()) {
    std::sort(unrelated.begin(), unrelated.end());
    warnings_.push_back("no exchange of clocks and no collective relates " +
                        ranks_text(rank_runs(unrelated)) + " to rank " +
                        std::to_string(members_[0].rank) +
                        ": their times are aligned by UTC, with an unknown error");
  }
  std::vector<ClockAlignment> alignments;
  for (std::uint32_t session = 0; session < members_.size(); ++session) {
    const Relation& r = *relations[members_[session].clock];
    alignments.push_back({session, 0, r.line.at, r.line.offset, r.line.drift, r.line.error,
                          r.exchanges, r.collectives});
  }
  return alignments;
}

void RankAligner::warn_about_kinds() {
  if (unequal_.empty()) return;
  const auto& [number, ranks] = *unequal_.begin();
  warnings_.push_back((unequal_.size() == 1
                           ? std::string("the collectives of one graph")
                           : "the collectives of " + std::to_string(unequal_.size()) + " graphs") +
                      " differ between ranks, for example of graph " + std::to_string(number) +
                      " with collectives on rank " + std::to_string(ranks.first) + " and rank " +
                      std::to_string(ranks.second) + ": they are not matched");
}

}  // namespace reprise::trace
