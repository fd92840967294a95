// LiveRanks: merges the live sessions of the ranks of one job into one document as they connect, as
// merge_traces() merges files. Aligns clocks by the latest exchanges; the times of earlier records
// do not change. Threads: one at a time.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "merge/rank_ids.hpp"
#include "trace/codec.hpp"

namespace reprise::model {

class LiveRanks {
 public:
  // Converts the records of the next chunk of a connection. Until its Session record, and if that
  // has no rank, they stay as they are.
  void convert(std::size_t connection, trace::Records& records);
  // Whether a session was a rank of a job, and the job of the first one.
  [[nodiscard]] bool are_ranks() const noexcept { return !sessions_.empty(); }
  [[nodiscard]] const std::string& job() const noexcept { return job_; }

 private:
  static constexpr std::size_t kExchanges = 64;  // that are considered

  // A host clock, and its offset to the clock of rank 0.
  struct HostClock {
    bool is_of_rank_0 = false;
    std::deque<trace::ClockExchange> exchanges;  // the newest, at most kExchanges
    trace::Time utc = 0;                         // UTC minus this clock; 0: unknown
  };
  struct Session {
    std::uint32_t index = 0;
    HostClock* clock = nullptr;
    trace::RankConverter converter;
  };
  struct Offset {
    trace::Time value = 0, error = 0;
  };

  void open(std::size_t connection, const trace::Session& session);
  void note_clocks(HostClock& clock, const trace::Records& records);
  // The clock of rank 0 minus `clock`, at time `now` of `clock`. kUnknownError: no exchange yet.
  [[nodiscard]] static Offset offset_of(const HostClock& clock, trace::Time now);
  [[nodiscard]] trace::ClockAlignment alignment_of(const Session& session) const;

  std::string job_;
  trace::MergedIds ids_;
  std::map<std::string, HostClock> clocks_;  // by Session::clock
  HostClock* reference_ = nullptr;           // of the first session
  std::map<std::size_t, Session> sessions_;  // by connection
};

}  // namespace reprise::model
