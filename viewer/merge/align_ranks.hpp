// Aligns the host clocks of the ranks of one job, by exchanges of clocks and by collectives: no
// rank ends one before every rank has started it. Sessions that name one clock share it. Knows
// nothing about files. Threads: one at a time.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "merge/clock_fit.hpp"
#include "trace/codec.hpp"
#include "trace/collective_runs.hpp"

namespace reprise::trace {

struct TimeRange {
  Time first = 0, last = 0;  // 0, 0: unknown
};
void extend(TimeRange& range, const TimeRange& by) noexcept;

// The part of the topology of a session that alignment needs.
struct RankTopology {
  Session session;                              // the latest record
  Time utc_offset = 0;                          // UTC minus the host clock; 0: unknown
  std::map<std::uint32_t, Time> device_errors;  // maximum, by device
  std::set<std::uint64_t> communicators;
  // Number and hash of the kinds of each graph with collectives whose communicator is unknown.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> signatures;

  void add(const Records& topology);
};

// Memory: at most kMaxRuns executions of collectives, which are a sample of longer traces, the
// same on all ranks.
class RankAligner {
 public:
  static constexpr std::size_t kMaxRuns = 2'000'000;

  // Sessions by rank; the first is the reference. At least one.
  explicit RankAligner(const std::vector<RankTopology>& sessions, std::size_t max_runs = kMaxRuns);

  [[nodiscard]] bool has_one_clock() const noexcept { return clocks_.size() == 1; }
  // False: the communicator is unknown, and another rank has other collectives in its place.
  [[nodiscard]] bool is_matched(const Collective& collective) const {
    return collective.communicator != 0 || !unequal_.contains(collective.number);
  }
  // Unless there is one clock only, all records of every session: the chunks of a session in
  // their order, one session after the other.
  void add_records(std::uint32_t session, const Records& records);

  // By session. `ranges`: of the own times of the sessions, in which the error bounds hold.
  [[nodiscard]] std::vector<ClockAlignment> align(const std::vector<TimeRange>& ranges);
  [[nodiscard]] const std::vector<std::string>& warnings() const noexcept { return warnings_; }

 private:
  // One collective on one clock. The limits include the error of the conversion to host times.
  struct Run {
    Time latest_start = 0, earliest_end = 0;
    Time end = 0;  // without that error
  };
  struct HostClock {
    std::vector<std::uint32_t> ranks;
    Time utc_offset = 0;  // UTC minus this clock; 0: unknown
    TimeRange range;
    std::unordered_map<std::uint64_t, Run> runs;  // by hash of the key
  };
  struct Member {
    std::uint32_t rank = 0, ranks = 0, clock = 0;  // ranks: of the job
    std::map<std::uint32_t, Time> device_errors;   // maximum, by device
  };
  struct Relation {  // of a clock to the reference
    ClockLine line;
    std::uint64_t exchanges = 0, collectives = 0;
  };
  struct Exchanges {
    ClockFit fit;
    std::uint64_t count = 0;
  };

  [[nodiscard]] bool is_usable(const Member& member, const Collective& collective) const;
  void add_exchange(std::uint32_t clock, const ClockExchange& exchange);
  void add_runs(const Member& member, const GraphVersion& graph, const SampleBlock& block);
  [[nodiscard]] Relation relate(std::uint32_t own, std::uint32_t other) const;
  void warn_about_kinds();

  std::vector<Member> members_;  // by session
  std::vector<HostClock> clocks_;
  std::map<std::uint32_t, std::uint32_t> clock_of_rank_;
  std::map<std::uint64_t, std::pair<std::uint32_t, bool>>
      communicators_;  // a clock, and whether others have it
  std::map<std::uint64_t, std::pair<std::uint32_t, std::uint32_t>>
      unequal_;  // numbers, and two ranks that differ
  std::map<std::pair<std::uint32_t, std::uint32_t>, Exchanges> exchanges_;  // own and other clock
  std::uint32_t session_ = kNone;                                           // of graphs_
  std::map<std::pair<std::uint32_t, std::uint32_t>, GraphVersion> graphs_;  // collectives only
  std::size_t max_runs_, runs_ = 0;
  std::uint64_t hash_mask_ = 0;  // runs are kept whose hash has none of these bits
  std::vector<std::string> warnings_;
};

}  // namespace reprise::trace
