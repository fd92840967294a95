// OverheadMeter: what profiling itself costs the host, about a record a second while there is
// something to tell: the time that the threads of the trace ran, as the system counts it, and that
// of the hooks in launches and replays, which are counted and have the price of so many looks at
// the clock as they take. Knows no thread and no clock but by what it is told. Threads: one at a
// time.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <reprise/trace.hpp>

#include "trace/records.hpp"

namespace reprise::detail {

// What hooks did.
struct HookCounts {
  std::uint64_t launches = 0, replays = 0, nodes = 0;
};

class OverheadMeter {
 public:
  // `look`: what a look at the clock takes.
  OverheadMeter(trace::Time now, double look) : from_(now), look_(look) {}

  void add(const HookCounts& hooks) noexcept;
  // `mode`: the closest that any graph is looked at. `threads`: what the trace's threads have run
  // in all. Appends a record where one is due.
  void tick(trace::Time now, ProfileMode mode, trace::Time threads,
            std::vector<trace::Record>& records);
  // Appends what is left.
  void finish(trace::Time now, ProfileMode mode, trace::Time threads,
              std::vector<trace::Record>& records);

 private:
  void tell(trace::Time now, trace::Time threads, std::vector<trace::Record>& records);

  trace::Time from_, threads_ = 0;
  double look_, hooks_ = 0;          // ns
  bool used_ = false;                // a hook was, since from_
  std::optional<ProfileMode> mode_;  // when the first of them was
};

// What a look at the trace's clock takes here, in ns.
[[nodiscard]] double clock_read_cost() noexcept;

}  // namespace reprise::detail
