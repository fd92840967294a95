// OverheadMeter: measures the host overhead of profiling and emits about one record per second. The
// overhead is the CPU time of the trace's threads plus that of the hooks in launches and replays;
// hooks are counted and estimated as multiples of the overhead of reading the clock. Reads no clock
// and no thread itself. Threads: one at a time.
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
  // `clock_read`: overhead of one clock read, ns.
  OverheadMeter(trace::Time now, double clock_read) : from_(now), clock_read_(clock_read) {}

  void add(const HookCounts& hooks) noexcept;
  // Appends a record if one is due. `mode`: the highest mode of any graph. `threads`: total CPU
  // time of the trace's threads, ns.
  void tick(trace::Time now, ProfileMode mode, trace::Time threads,
            std::vector<trace::Record>& records);
  // Appends a record of the remaining overhead.
  void finish(trace::Time now, ProfileMode mode, trace::Time threads,
              std::vector<trace::Record>& records);

 private:
  void emit(trace::Time now, trace::Time threads, std::vector<trace::Record>& records);

  trace::Time from_, threads_ = 0;
  double clock_read_, hooks_ = 0;    // ns
  bool has_hooks_ = false;           // a hook ran since from_
  std::optional<ProfileMode> mode_;  // at the first hook since from_
};

// Measured overhead of one read of the trace's clock, ns.
[[nodiscard]] double clock_read_cost() noexcept;

}  // namespace reprise::detail
