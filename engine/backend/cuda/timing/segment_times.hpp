// SegmentTimes: when the commands of a profiling clone's segments ran. Their timed persistent
// kernels write a row of SegmentRecordTimes in each replay. Threads: as TimestampRing.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "backend/backend.hpp"
#include "backend/cuda/timing/readback.hpp"
#include "backend/cuda/timing/timestamp_ring.hpp"
#include "ptx/segment_record.hpp"

namespace reprise::detail {

// The nodes that the records of a plan's segments run, in the order of the records.
struct SegmentTimeLayout {
  struct Record {
    std::uint32_t node = 0;  // lowered
    std::uint32_t warps = 0;
    std::uint32_t first = 0;  // the first record of its list
  };
  std::vector<Record> records;
  std::vector<std::uint32_t> first;  // record of each segment, and the end of the last one
};
[[nodiscard]] SegmentTimeLayout segment_time_layout(const Plan& plan);

// A command of a segment in one replay, on the GPU's clock.
struct SegmentNodeTime {
  std::uint64_t started = 0, ended = 0;  // of its first and its last block; 0: unknown
  std::uint32_t multiprocessor = 0;      // of the block that started first
};
// Adds to `nodes`, by lowered node, the times in a row of the replay. Times of a replay that took
// more than four seconds are ambiguous and remain unknown.
void add_segment_times(const SegmentTimeLayout& layout, std::span<const SegmentRecordTimes> row,
                       const ReplayTimestamps& replay, std::span<SegmentNodeTime> nodes);

class SegmentTimes {
 public:
  // Null for a plan without segments.
  [[nodiscard]] static std::unique_ptr<SegmentTimes> make(
      const std::shared_ptr<const CudaContext>& context, const std::shared_ptr<Readback>& readback,
      const Plan& plan);

  // Where the kernel of a segment writes; see PersistentKernel.
  struct Table {
    std::byte* times = nullptr;
    std::uint32_t row_mask = 0, row_bytes = 0;
  };
  [[nodiscard]] Table table(std::uint32_t segment) const;
  // Number of replays whose rows fit.
  [[nodiscard]] std::uint32_t rows() const noexcept { return rows_; }
  // Fetches the row of a replay.
  void read(const ReplayTimestamps& replay, std::span<SegmentNodeTime> nodes);

 private:
  SegmentTimes(const std::shared_ptr<const CudaContext>& context,
               const std::shared_ptr<Readback>& readback, SegmentTimeLayout layout,
               std::uint32_t rows);

  const std::shared_ptr<Readback> readback_;
  const SegmentTimeLayout layout_;
  const std::uint32_t rows_;
  const InstrumentationMemory memory_;
  std::vector<SegmentRecordTimes> row_;
};

}  // namespace reprise::detail
