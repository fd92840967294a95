// NodeTimer: the interface of the node timers of a profiling clone. Knows no graph. Threads: one at
// a time.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "backend/backend.hpp"
#include "backend/cuda/timing/gpu_clock.hpp"
#include "backend/cuda/timing/timestamp_ring.hpp"

namespace reprise::detail {

class NodeTimer {
 public:
  enum class Remaining : std::uint8_t { Possible, None };
  struct Request {
    ReplayTimestamps replay;                   // as numbered by timestamps
    std::uint64_t number = 0;                  // as numbered by the graph
    const std::atomic<std::uint64_t>& newest;  // the latest replay that the clone may be running
    Remaining remaining = Remaining::Possible;
  };
  enum class FindResult : std::uint8_t { Times, Pending, Lost };

  virtual ~NodeTimer() = default;
  [[nodiscard]] virtual TimedBy timed_by() const noexcept = 0;
  // Number of consecutive replays that it can time without a find() in between.
  [[nodiscard]] virtual std::uint64_t rows() const noexcept = 0;
  virtual void flush() {}              // called before find()
  virtual void mark_gap() noexcept {}  // replays of the clone were lost and will not be requested
  // A message about problems since the last call; empty if there were none.
  [[nodiscard]] virtual std::string warning() { return {}; }
  // Called for replays in order.
  [[nodiscard]] virtual FindResult find(const Request& request, const GpuClock& clock) = 0;
  // Fills `times`, one per lowered node, with those of the replay found last. Untimed nodes keep 0.
  virtual void fill(NodeTime* times, const GpuClock& clock) = 0;
};

}  // namespace reprise::detail
