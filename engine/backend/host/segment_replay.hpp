// SegmentReplay: runs a segment on the host device by the same lists, waits and counters as on a
// GPU. A list that has to wait is left, and its thread goes on with another one, so that any number
// of threads, even one, runs any number of lists. Threads: one replay at a time.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "backend/host/device_generation.hpp"
#include "backend/host/host_program.hpp"

namespace reprise::detail {

class SegmentReplay {
 public:
  // `segment` is one of the program's. The arguments outlive this object.
  SegmentReplay(HostProgram& program, const Segment& segment, const DeviceGeneration& generation);

  // Returns when all items have ended or, after a device loss, when no item runs. `times`: of every
  // node of the program; null: not wanted. Adds the exceptions of checked kernels to `errors`.
  void run(WorkerArena& workers, std::uint64_t replay, CallbackErrors& errors,
           NodeTime* times) noexcept;

  [[nodiscard]] const Segment& segment() const noexcept { return segment_; }

 private:
  // A block of the persistent kernel.
  struct List {
    std::atomic<bool> is_taken{false};  // by the thread that runs its items
    std::uint32_t next = 0;             // item
  };
  struct ItemTime {
    std::int64_t started = 0, ended = 0;
    std::uint16_t worker = 0;
  };

  struct Replay {
    std::uint64_t number = 0;
    CallbackErrors& errors;
    bool is_timed = false;
  };
  void run_lists(std::uint32_t first, const Replay& replay) noexcept;
  // Runs items of a list until one has to wait. True if an item ran.
  bool advance(std::uint32_t list, const Replay& replay) noexcept;
  [[nodiscard]] bool may_start(const SegmentItem& item) const noexcept;
  void write_times(NodeTime* times) const noexcept;

  HostProgram& program_;
  const Segment& segment_;
  const DeviceGeneration& generation_;
  const std::unique_ptr<List[]> lists_;
  // Items that were published and items that ended, by the node's number in the segment. They grow
  // from replay to replay.
  const std::unique_ptr<std::atomic<std::uint64_t>[]> published_, ended_;
  std::vector<ItemTime> times_;         // by item; empty until a replay is timed
  std::uint64_t runs_ = 0;              // of this object, with the current one
  std::atomic<std::uint32_t> open_{0};  // lists with items left
};

}  // namespace reprise::detail
