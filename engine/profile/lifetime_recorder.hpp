// LifetimeRecorder: records the lifetimes of buffers, within a rate. A buffer that exceeds the rate
// waits; if it is freed meanwhile, the trace has only the counts of its pool. A buffer whose start
// was recorded always gets its end. Threads: one at a time.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "profile/rate_limit.hpp"
#include "trace/records.hpp"

namespace reprise::detail {

// At 50 a second, lifetimes grow a trace by about 15 MB an hour.
inline constexpr RateLimit::Desc kLifetimeRate{.burst = 16'384, .per_second = 50};
// The rate of the states of one pool, or of the totals of one device.
inline constexpr RateLimit::Desc kStateRate{.burst = 256, .per_second = 10};

class LifetimeRecorder {
 public:
  using Records = std::vector<trace::Record>;
  // `rate` must outlive the recorder.
  explicit LifetimeRecorder(RateLimit& rate) : rate_(rate) {}

  void add(trace::BufferLifetime lifetime, Records& records) {
    if (waiting_.empty() && rate_.take(lifetime.allocated)) {
      records.emplace_back(std::move(lifetime));
    } else {
      waiting_.emplace(lifetime.buffer, std::move(lifetime));
    }
  }
  // `lifetime.freed` is set.
  void remove(trace::BufferLifetime lifetime, Records& records) {
    if (waiting_.erase(lifetime.buffer) == 0) records.emplace_back(std::move(lifetime));
  }
  // Records the buffers that wait, oldest first, as far as the rate permits.
  void collect(trace::Time now, Records& records) {
    while (!waiting_.empty() && rate_.take(now)) take_first(records);
  }
  // Records all buffers that wait; called at the end of a trace.
  void finish(Records& records) {
    while (!waiting_.empty()) take_first(records);
  }
  [[nodiscard]] bool has_waiting() const noexcept { return !waiting_.empty(); }

 private:
  void take_first(Records& records) {
    records.emplace_back(std::move(waiting_.begin()->second));
    waiting_.erase(waiting_.begin());
  }

  RateLimit& rate_;
  std::map<std::uint32_t, trace::BufferLifetime> waiting_;  // by id, which is in order of age
};

}  // namespace reprise::detail
