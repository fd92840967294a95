// Nodes of somebody else's CUDA graph that no command of the engine stands for: events, semaphores, memory, conditionals. Known by
// name and by what the driver tells of them. Threads: pure functions of the driver's state.
#pragma once

#include <memory>

#include "backend/cuda/native_nodes.hpp"
#include "record/recorded_op.hpp"

namespace reprise::detail {

// An op that says what the node is and cannot be recorded again. A kernel, copy or fill is one where its parameters could not be read.
[[nodiscard]] std::shared_ptr<const RecordedOp> native_op(const CudaContext& context, const NativeNode& node);

}  // namespace reprise::detail
