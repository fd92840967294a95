// BoundaryTimestamps: the stamps around a graph that no frame carries: one before all of its roots,
// one after all of its leaves, or one of the two where half a frame carries the other. They cost a
// microsecond or two of each replay, and so can be switched off in an executable, and left out of
// copies. Threads: one at a time; used within a SetupScope.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backend/cuda/cuda_context.hpp"
#include "backend/cuda/cuda_instrumentation.hpp"

namespace reprise::detail {

// Nodes of the graph that they are in; null: a frame carries that stamp, or nothing notes times.
struct BoundaryTimestamps {
  cudaGraphNode_t begin = nullptr, end = nullptr;
  [[nodiscard]] explicit operator bool() const noexcept {
    return begin != nullptr || end != nullptr;
  }
  [[nodiscard]] std::size_t count() const noexcept {
    return (begin != nullptr ? 1u : 0u) + (end != nullptr ? 1u : 0u);
  }
};

// Puts them around everything in `graph`; they note times in `ring`, the memory of a TimestampRing.
[[nodiscard]] BoundaryTimestamps add_timestamp_ends(const CudaContext& context, cudaGraph_t graph,
                                                    const CudaInstrumentation& instrumentation,
                                                    std::uint64_t* ring, const CallContext& place);
// Whether kernels of this device may start before the one in front of them has ended.
[[nodiscard]] bool can_overlap_begin(const DeviceInfo& device);
// Lets `root`, a kernel that comes after nothing yet, start once the first stamp has noted its
// time, and the last one come after both; `ends` are the stamps of the graph, whatever carries the
// last one. That takes 0.3 to 0.6 us of each replay off what the two cost; with several roots it
// would add.
void overlap_begin(cudaGraph_t graph, const BoundaryTimestamps& ends, cudaGraphNode_t root,
                   const CallContext& place);
// Takes them out of `copy`, a clone of the graph that has both `ends`.
void remove_timestamp_ends(cudaGraph_t copy, const BoundaryTimestamps& ends,
                           const CallContext& place);

enum class TimestampMode : std::uint8_t { Off, On };
// From the next launch of `exec` on, which is made of the graph that has `ends`. Off: none of its
// replays is noted, whatever a frame's half does.
void set_timestamp_mode(cudaGraphExec_t exec, const BoundaryTimestamps& ends,
                        TimestampMode timestamp_mode, const CallContext& place);

}  // namespace reprise::detail
