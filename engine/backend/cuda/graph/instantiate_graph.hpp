// instantiate(): makes an executable of a CUDA graph; its errors contain the reason, the result and
// the number of nodes. Threads: used within a SetupScope.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <functional>
#include <string>

#include <reprise/error.hpp>

#include "backend/cuda/cuda_check.hpp"

namespace reprise::detail {

// The reason why CUDA refuses a graph of `nodes` nodes, for messages.
[[nodiscard]] std::string describe(cudaGraphInstantiateResult result, std::size_t nodes);
// Throws what cuda_check does. `name` adds to an Error what the refused node is; empty: nothing.
[[nodiscard]] cudaGraphExec_t instantiate(
    cudaGraph_t graph, const CallContext& call,
    const std::function<Error(const Error&, cudaGraphNode_t)>& name = {});

}  // namespace reprise::detail
