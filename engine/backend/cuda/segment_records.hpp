// SegmentRecords: the records of a segment as its persistent kernel reads them, and the parts of
// that kernel. Makes no CUDA call. Threads: pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include "backend/backend.hpp"
#include "ptx/persistent_kernel.hpp"
#include "ptx/segment_record.hpp"

namespace reprise::detail {

inline constexpr std::uint32_t kWarp = 32;  // threads
// Resident threads of segments per multiprocessor, with 128 registers each.
inline constexpr std::uint32_t kSegmentThreads = 512;

// The kernels of a plan's segments.
struct SegmentParts {
  std::vector<PersistentPart> parts;                // the most frequent one first
  std::vector<std::uint32_t> dynamic_shared_bytes;  // by part: the most that a dispatch asks for
  std::vector<std::uint32_t> part_of;               // by lowered node; kNone outside segments
  std::uint32_t threads = 0;  // of a persistent block, which can run each of them

  friend bool operator==(const SegmentParts&, const SegmentParts&) = default;
};
[[nodiscard]] SegmentParts segment_parts(const Plan& plan);
// The dynamic shared memory of a persistent block.
[[nodiscard]] std::uint32_t segment_shared_bytes(const SegmentParts& parts,
                                                 const PersistentKernel& code);

struct SegmentRecords {
  std::vector<SegmentRecord> records;
  std::vector<std::uint32_t> first;  // record of each list, and the end of the last one
  std::vector<SegmentRecord::Wait> more_waits;
  // Parameter blocks that do not fit into a record, and by record where its block is; a device
  // address replaces it in SegmentRecord::parameters.
  std::vector<std::byte> parameters;
  struct Address {
    std::uint32_t record = 0;
    std::uint64_t offset = 0;
  };
  std::vector<Address> addresses;
};
// `code` was made of `parts`, those of the plan. Disabled commands become records that only wait
// and publish.
[[nodiscard]] SegmentRecords make_segment_records(const Plan& plan, const Bindings& bindings,
                                                  const Segment& segment, const SegmentParts& parts,
                                                  const PersistentKernel& code);

}  // namespace reprise::detail
