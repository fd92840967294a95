// What an instance writes down of its graphs and replays, and where. Nothing unless it is asked for: no thread, no file.
// Threads: values.
#pragma once

#include <cstdint>
#include <string_view>

namespace reprise {

// How closely replays are looked at. More is in the trace, and costs more; the plan and its lowering are always the same.
enum class ProfileMode : std::uint8_t {
  Off,       // graphs, buffers and messages; no replay
  Replays,   // when each replay was launched, and when it began and ended on the device
  Sampled,   // and the times of all nodes, of as many replays as cost about 1 % of the time
  Every      // and the times of all nodes of every replay
};

struct TraceDesc {
  // "FILE[,max=SIZE][,keep=last|first]"; empty: no trace. $REPRISE_TRACE wins over it. SIZE is in bytes, or with k, M or G; at that size
  // the file keeps the newest events, or with keep=first the oldest. Instances of one process that name the same file share it; it is
  // whole once the last of them, and everything made from them, is gone. A later instance that names it writes it anew.
  std::string_view target = {};
  ProfileMode profile = ProfileMode::Every;  // $REPRISE_PROFILE = off | replays | sampled | every wins over it
};

}  // namespace reprise
