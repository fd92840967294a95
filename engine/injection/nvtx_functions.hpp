// The functions that NVTX calls for the ranges of an observed program. They keep the ranges that
// are open on each thread. NVTX could pass its calls to CUPTI instead, which reports them like
// calls of CUDA; a program of JAX, whose XLA opens many ranges around a launch, took three times as
// long then. Threads: any.
#pragma once

#include <cstdint>
#include <span>

#include "injection/nccl_calls.hpp"
#include "injection/node_scopes.hpp"

namespace reprise::detail {

// The ranges that are open on the calling thread.
struct ThreadRanges {
  OpenScopes scopes;
  NcclCalls nccl_calls;
};
[[nodiscard]] ThreadRanges& thread_ranges();

// The innermost range of a domain ends on the calling thread.
void end_range(std::uint64_t domain, std::span<const NvtxPayload> payloads = {}) noexcept;

// Installs the functions in one copy of NVTX, of which a process may have several; `tables` is that
// copy's argument for tools. `created` takes each communicator of NCCL whose creation a range
// shows. False: it is not of version 3.
[[nodiscard]] bool install_nvtx_functions(const void* (*tables)(std::uint32_t),
                                          void (*created)(const NcclCommunicator&));

// Installs the function that ends ranges in NVTX's extension for payloads: NCCL ends the ranges
// that create communicators by it. Leaves other extensions alone. `module`: nvtxExtModuleInfo_t.
void install_nvtx_extension(const void* module);

}  // namespace reprise::detail
