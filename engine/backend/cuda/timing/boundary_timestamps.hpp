// BoundaryTimestamps: timestamp kernels around a graph: one before all roots, one after all leaves.
// Entry and exit kernels replace them where the plan has these. A pair costs 1 to 2 us per replay,
// so an executable can disable them and copies can omit them. Threads: one at a time; used within a
// SetupScope.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backend/cuda/cuda_context.hpp"
#include "backend/cuda/timing/cuda_instrumentation.hpp"

namespace reprise::detail {

// Nodes of the graph; null: the entry or exit kernel takes that timestamp, or the graph is not
// timed.
struct BoundaryTimestamps {
  cudaGraphNode_t begin = nullptr, end = nullptr;
  [[nodiscard]] explicit operator bool() const noexcept {
    return begin != nullptr || end != nullptr;
  }
  [[nodiscard]] std::size_t count() const noexcept {
    return (begin != nullptr ? 1u : 0u) + (end != nullptr ? 1u : 0u);
  }
};

// Adds timestamp kernels around every node of `graph`. They write to `ring`, the memory of a
// TimestampRing.
[[nodiscard]] BoundaryTimestamps add_boundary_timestamps(const CudaContext& context,
                                                         cudaGraph_t graph,
                                                         const CudaInstrumentation& instrumentation,
                                                         std::uint64_t* ring,
                                                         const CallContext& call);
// True if kernels of this device may start before their predecessor has ended.
[[nodiscard]] bool can_overlap_start(const DeviceInfo& device);
// Lets `root`, a kernel without predecessors, start once the start timestamp is taken. The end
// timestamp comes after both; `boundary` names the graph's timestamp nodes, boundary or exit
// kernel. The overlap saves 0.3 to 0.6 us per replay. With several roots it would add time.
void overlap_start(cudaGraph_t graph, const BoundaryTimestamps& boundary, cudaGraphNode_t root,
                   const CallContext& call);
// Removes the nodes of `boundary` from `copy`, a clone of their graph.
void remove_boundary_timestamps(cudaGraph_t copy, const BoundaryTimestamps& boundary,
                                const CallContext& call);

enum class TimestampMode : std::uint8_t { Off, On };
// Applies from the next launch of `exec` on, an executable of the graph that contains `boundary`.
// Off: replays are not recorded, even if an entry or exit kernel takes one of the timestamps.
void set_timestamp_mode(cudaGraphExec_t exec, const BoundaryTimestamps& boundary,
                        TimestampMode timestamp_mode, const CallContext& call);

}  // namespace reprise::detail
