// Converts a trace to slices on tracks: launches and ranges by host thread, replays by graph, nodes
// by worker or lane. The memory of each pool is a counter. Slices of one track never overlap: a
// slice that would overlap moves to a further part of the track. Slices of one track are emitted in
// the order of their times. Threads: one at a time.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "export/selection.hpp"

namespace reprise::trace {

struct TrackKey {
  enum class Kind : std::uint8_t {
    Launches,
    HostRanges,
    Replays,
    Worker,
    Stream,
    Multiprocessor,
    Lane
  } kind = Kind::Replays;
  std::uint32_t owner = 0;   // thread of launches and host ranges; graph of other tracks
  std::uint32_t exec = 0;    // of replays and nodes
  std::uint32_t number = 0;  // depth of host ranges, Sample::worker, lane
  std::uint32_t part = 0;
  friend auto operator<=>(const TrackKey&, const TrackKey&) = default;
};

struct Slice {
  std::uint32_t track = 0;
  Time from = 0, to = 0;
  std::string name;
  const char* category = "";  // "launch", "host", "replay" or "node"
  std::uint32_t graph = kNone;
  std::uint64_t replay = 0;  // 0: none
  std::uint32_t node = kNone, occurrence = 0;
  std::uint32_t parent = kNone;                    // node that runs the body of this node
  std::string label;                               // label path of the node
  std::vector<std::uint64_t> flows_out, flows_in;  // ids of arrows that start and end at this slice
};

// The device memory of a pool: mapped, or of its buffers if the trace lacks the former.
struct Counter {
  std::uint32_t pool = 0, session = 0;
  std::string name;
  Time at = 0;
  std::uint64_t bytes = 0;
};

class TimelineSink {
 public:
  virtual ~TimelineSink() = default;
  // Called before the first slice of the track. Track numbers are consecutive from 0.
  virtual void add_track(std::uint32_t track, std::uint32_t session, const std::string& name) = 0;
  virtual void add_slice(const Slice& slice) = 0;
  virtual void add_counter(const Counter& counter) = 0;
};

// Throws what the reader and the sink throw.
ExportReport draw_timeline(const TraceReader& reader, const Selection& selection,
                           const ExportDesc& desc, TimelineSink& sink);

}  // namespace reprise::trace
