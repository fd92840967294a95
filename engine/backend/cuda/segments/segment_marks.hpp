// unfinished_in_segment(): the running commands of a segment and its waiting blocks, from the
// SegmentMarks of its lists. Makes no CUDA call. Threads: pure functions.
#pragma once

#include <span>
#include <vector>

#include "backend/backend.hpp"
#include "backend/cuda/segments/segment_records.hpp"
#include "ptx/segment_record.hpp"

namespace reprise::detail {

// `marks`: SegmentMark::kWarps for each list. Returns nodes of the segment's lowered graph: first
// the running ones, ascending, then those before which blocks wait, ascending.
[[nodiscard]] std::vector<UnfinishedNode> unfinished_in_segment(const SegmentRecords& records,
                                                                std::span<const SegmentMark> marks);

}  // namespace reprise::detail
