// OverheadMeter: measures the host cost of profiling and emits about one record per second. The
// cost is the CPU time of the trace's threads plus that of the hooks in launches and replays; hooks
// are counted and estimated as multiples of the cost of reading the clock. Reads no clock and no
// thread itself. Threads: one at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <reprise/trace.hpp>

#include "trace/records.hpp"

namespace reprise::detail {

// The number of hook executions.
struct HookCounts {
  std::uint64_t launches = 0, replays = 0, nodes = 0;
};

class OverheadMeter {
 public:
  // `look`: cost of one clock read, ns.
  OverheadMeter(trace::Time now, double look) : from_(now), look_(look) {}

  void add(const HookCounts& hooks) noexcept;
  // Appends a record if one is due. `mode`: the highest mode of any graph. `threads`: total CPU
  // time of the trace's threads, ns.
  void tick(trace::Time now, ProfileMode mode, trace::Time threads,
            std::vector<trace::Record>& records);
  // Appends a record of the remaining cost.
  void finish(trace::Time now, ProfileMode mode, trace::Time threads,
              std::vector<trace::Record>& records);

 private:
  void tell(trace::Time now, trace::Time threads, std::vector<trace::Record>& records);

  trace::Time from_, threads_ = 0;
  double look_, hooks_ = 0;          // ns
  bool used_ = false;                // a hook ran since from_
  std::optional<ProfileMode> mode_;  // at the first hook since from_
};

// Measured cost of one read of the trace's clock, ns.
[[nodiscard]] double clock_read_cost() noexcept;

}  // namespace reprise::detail
