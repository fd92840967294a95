// NodeTimer: what times the nodes of a twin, replay by replay. Knows no graph. Threads: one at a
// time.
#pragma once

#include <cstdint>
#include <string>

#include "backend/backend.hpp"
#include "backend/cuda/gpu_clock.hpp"
#include "backend/cuda/timestamp_ring.hpp"

namespace reprise::detail {

class NodeTimer {
 public:
  enum class Rest : std::uint8_t { MayCome, IsHere };
  struct Wanted {
    ReplayTimestamps replay;   // numbered as stamps are
    std::uint64_t number = 0;  // as the graph's replays are
    std::uint64_t newest = 0;  // replay that the twin may be running
    Rest rest = Rest::MayCome;
  };
  enum class Found : std::uint8_t { Times, NotYet, Lost };

  virtual ~NodeTimer() = default;
  [[nodiscard]] virtual TimedBy timed_by() const noexcept = 0;
  [[nodiscard]] virtual std::uint64_t rows()
      const noexcept = 0;   // replays in a row that it can time, if they are looked for in between
  virtual void gather() {}  // before replays are looked for
  virtual void note_gap() noexcept {}  // replays that the twin ran will not be looked for
  // What went wrong since the last call, in plain words; empty: nothing.
  [[nodiscard]] virtual std::string complaint() { return {}; }
  // Replays in their order.
  [[nodiscard]] virtual Found find(const Wanted& wanted, const GpuClock& clock) = 0;
  // Fills `times`, one a lowered node, with those of the replay that was found last. What was not
  // timed keeps 0.
  virtual void fill(NodeTime* times, const GpuClock& clock) = 0;
};

}  // namespace reprise::detail
