// The recording of an inspection clone: the commands of another recording in a fixed order, and
// between them the commands that read values. Knows no device. Threads: pure.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/content_statistics.hpp"
#include "inspect/inspected_values.hpp"
#include "record/kernel_core.hpp"
#include "record/recording.hpp"

namespace reprise::detail {

// The reading of one range.
struct ValueReading {
  static constexpr std::uint64_t kNowhere = ~std::uint64_t{0};
  std::uint64_t partials = kNowhere;  // offset of its PartialStatistics in the buffer for results
  std::uint64_t contents = kNowhere;  // offset of its bytes there
};

struct InspectionRecordingDesc {
  std::span<const std::uint32_t> order;  // commands
  const InspectedValues& values;
  std::span<const ValueReading> readings;  // by range of `values`
  std::shared_ptr<const KernelCore> statistics;
  std::shared_ptr<BufferCore> results;
};

// Its buffers are those of `recording`, then desc.results.
[[nodiscard]] std::shared_ptr<const Recording> inspection_recording(
    const Recording& recording, const InspectionRecordingDesc& desc);

[[nodiscard]] ContentRows rows_of(const InspectedValues::Range& range);

}  // namespace reprise::detail
