// A copy in the stream of an op. Threads: as GraphOp::record().
#pragma once

#include <cstdint>

#include <reprise/graph_op.hpp>

namespace reprise::ops {

void copy_cuda(GraphRecordCtx& ctx, const void* from, void* to, std::uint64_t bytes);

}  // namespace reprise::ops
