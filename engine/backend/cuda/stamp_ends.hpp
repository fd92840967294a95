// StampEnds: the stamps around a graph that no frame carries: one before all of its roots, one after all of its leaves, or one of the two where
// half a frame carries the other. They cost a microsecond or two of each replay, and so can be switched off in an executable, and left out of
// copies. Threads: one at a time; used within a SetupScope.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backend/cuda/cuda_context.hpp"
#include "backend/cuda/cuda_instruments.hpp"

namespace reprise::detail {

// Nodes of the graph that they are in; null: a frame carries that stamp, or nothing notes times.
struct StampEnds {
  cudaGraphNode_t begin = nullptr, end = nullptr;
  [[nodiscard]] explicit operator bool() const noexcept { return begin != nullptr || end != nullptr; }
  [[nodiscard]] std::size_t count() const noexcept { return (begin != nullptr ? 1u : 0u) + (end != nullptr ? 1u : 0u); }
};

// Puts them around everything in `graph`; they note times in `ring`, the memory of a StampRing.
[[nodiscard]] StampEnds add_stamp_ends(const CudaContext& context, cudaGraph_t graph, const CudaInstruments& instruments, std::uint64_t* ring,
                                       const CallPlace& place);
// Whether kernels of this device may start before the one in front of them has ended.
[[nodiscard]] bool can_overlap_begin(const DeviceInfo& device);
// Lets `root`, a kernel that comes after nothing yet, start once the first stamp has noted its time, and the last one come after both; `ends` are
// the stamps of the graph, whatever carries the last one. That takes 0.3 to 0.6 us of each replay off what the two cost; with several roots it would add.
void overlap_begin(cudaGraph_t graph, const StampEnds& ends, cudaGraphNode_t root, const CallPlace& place);
// Takes them out of `copy`, a clone of the graph that has both `ends`.
void remove_stamp_ends(cudaGraph_t copy, const StampEnds& ends, const CallPlace& place);

enum class Stamping : std::uint8_t { Off, On };
// From the next launch of `exec` on, which is made of the graph that has `ends`. Off: none of its replays is noted, whatever a frame's half does.
void set_stamping(cudaGraphExec_t exec, const StampEnds& ends, Stamping stamping, const CallPlace& place);

}  // namespace reprise::detail
