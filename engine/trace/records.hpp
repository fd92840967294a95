// The records of a trace: plain values that the writer accepts and the reader returns. schema.fbs
// documents their fields and their encoding, and their types are made from it. Knows nothing about
// the engine and the viewer. Threads: values.
//
// Times are nanoseconds of the session's host clock, a steady clock; Clock relates it to UTC and to
// the clocks of GPUs. GPU times are converted once, before they become records, with the error
// bound that Clock states. A time of 0 means unknown. Ids count from 0 within one session (host,
// process, rank); ids of different sessions are unrelated.
//
// The trace of one process has one session. A merged trace has one per rank: its ids are unique
// over all sessions, `session` in a record is the index of its session among the Session records,
// and all times are on the clock of the reference rank (ClockAlignment).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <variant>
#include <vector>

namespace reprise::trace {

using Time = std::int64_t;
// 95 years, which no clock shows before 2065. No time and no duration of a trace is beyond it, so
// that consumers can subtract two of them and add a third.
inline constexpr Time kMaxTime = 3'000'000'000'000'000'000;
inline constexpr std::uint32_t kNone = 0xffffffffu;
inline constexpr Time kUnknownError = kMaxTime;  // ClockAlignment
inline constexpr std::int64_t kUnknownBytes =
    std::numeric_limits<std::int64_t>::min();  // CreationCost

enum class SampleSource : std::uint8_t { Host, Timestamp, Cupti };

// The time of one node in one replay. started == 0: unknown.
struct Sample {
  std::uint32_t node = 0;
  // Index of the execution, for nodes that run repeatedly in a replay; from 0.
  std::uint32_t occurrence = 0;
  Time started = 0;
  std::uint32_t duration = 0;  // ns, saturates
  // Where it ran: thread of the host device, stream that CUPTI reports, or, of a command of a
  // segment that timestamps timed, the multiprocessor of its first block plus one. 0: unknown.
  std::uint16_t worker = 0;
  friend bool operator==(const Sample&, const Sample&) = default;
};

// All samples of one replay of one executable.
struct SampleBlock {
  std::uint32_t graph = 0, version = 0, exec = 0;
  std::uint64_t replay = 0;
  SampleSource source = SampleSource::Host;
  std::vector<Sample> samples;  // sorted by start
  friend bool operator==(const SampleBlock&, const SampleBlock&) = default;
};

}  // namespace reprise::trace

#include "trace/records_generated.hpp"
