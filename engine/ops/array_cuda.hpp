// Reductions, scans and sorts on GPUs. Functions throw Error naming the op. Threads: as
// GraphOp::record().
#pragma once

#include <cstdint>

#include <reprise/graph_op.hpp>

#include "ops/array_work.hpp"

namespace reprise::ops {

// Bytes of workspace 0.
[[nodiscard]] std::uint64_t array_cuda_workspace(const ArrayWork& work, std::uint32_t ordinal);
// Sorts keep their keys in workspace 1 and, with indices, their numbers in workspace 2.
void record_array_cuda(const ArrayWork& work, const ArrayAddresses& at, GraphRecordCtx& ctx);

}  // namespace reprise::ops
