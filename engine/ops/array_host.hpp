// Reductions, scans and sorts on the host device. Threads: as GraphOp::record().
#pragma once

#include <reprise/graph_op.hpp>

#include "ops/array_work.hpp"

namespace reprise::ops {

void record_array_host(const ArrayWork& work, const ArrayAddresses& at, GraphRecordCtx& ctx);

}  // namespace reprise::ops
