// Finds in the SegmentMarks of a segment's lists which of its commands run and where blocks wait.
// Makes no CUDA call. Threads: pure functions.
#pragma once

#include <span>
#include <vector>

#include "backend/backend.hpp"
#include "backend/cuda/segments/segment_records.hpp"
#include "ptx/segment_record.hpp"

namespace reprise::detail {

// `marks`: SegmentMark::kWarps for each list. Nodes are those of the segment's lowered graph.
// Ascending by node, those that run first.
[[nodiscard]] std::vector<UnfinishedNode> unfinished_in_segment(const SegmentRecords& records,
                                                                std::span<const SegmentMark> marks);

}  // namespace reprise::detail
